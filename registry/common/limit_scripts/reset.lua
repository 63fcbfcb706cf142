-- KEYS: a bucket. Forgets it.
return redis.call('DEL', KEYS[1])
