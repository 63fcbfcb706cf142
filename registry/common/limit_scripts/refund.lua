-- KEYS: a bucket. Takes one attempt back.
local level = redis.call('HGET', KEYS[1], 'level')
if level then redis.call('HSET', KEYS[1], 'level', string.format('%.9f', math.max(0, tonumber(level) - 1))) end
return 0
