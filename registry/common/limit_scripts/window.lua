-- KEYS: one window. ARGV: the count, its length in ms, 1 to count a call. Returns the ms to wait, 0 where it is taken.
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
if used >= tonumber(ARGV[1]) then return math.max(1, redis.call('PTTL', KEYS[1])) end
if ARGV[3] == '1' and redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
