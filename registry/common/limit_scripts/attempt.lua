-- KEYS: buckets, as in `rate_limits.FailureThrottle`. ARGV: burst, interval and longest interval of each. Returns the ms
-- to wait; 0 where the attempt is counted against each of them.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) + tonumber(clock[2]) / 1000000
local wait, levels, intervals = 0, {}, {}
for place, key in ipairs(KEYS) do
  local burst, shortest = tonumber(ARGV[3 * place - 2]), tonumber(ARGV[3 * place - 1])
  local bucket = redis.call('HMGET', key, 'level', 'interval', 'at')
  local level, interval = 0, shortest
  if bucket[1] then
    interval = tonumber(bucket[2])
    level = math.max(0, tonumber(bucket[1]) - (now - tonumber(bucket[3])) / interval)
    if level == 0 then interval = shortest end
  end
  wait = math.max(wait, (level + 1 - burst - 1e-9) * interval)
  levels[place], intervals[place] = level, interval
end
if wait > 0 then return math.ceil(wait * 1000) end
for place, key in ipairs(KEYS) do
  local burst, shortest, longest = tonumber(ARGV[3*place-2]), tonumber(ARGV[3*place-1]), tonumber(ARGV[3*place])
  local level, interval = levels[place] + 1, intervals[place]
  if level + 1 > burst then interval = math.max(shortest, math.min(interval * 2, longest)) end
  redis.call('HSET', key, 'level', string.format('%.9f', level), 'interval', string.format('%.6f', interval),
    'at', string.format('%.6f', now))
  redis.call('PEXPIRE', key, math.ceil(level * interval * 1000) + 1000)
end
return 0
