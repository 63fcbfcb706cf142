"""The `SEC_` rules: does a bundle hide something, order something, or carry something it should not?

A finding says what was seen and where. That nothing was found says nothing: these are patterns, classes of words and a
classifier of sentences, and a new wording passes them. All of it takes time linear in the text.
"""
