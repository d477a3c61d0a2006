/** How the header of an entry starts, in any version. Entries without it are another program's. */
export const HEADER_START = '{"v":';

/**
 * The start of a script whose first key is the log. Removes what another program wrote: a key of
 * another type, and entries at the end without a header. Their ids would block those of later
 * entries. Keeps the entries of later versions, whatever other fields they have. Then sets `head`
 * and `hash` to the position of the last entry. Because a script blocks the server, a call removes
 * at most 1,000 entries. If more are left, it does nothing else and returns nil: call it again.
 */
const MENDED_LOG = `
local function fieldOf(entry, name)
  local fields = entry[2]
  for i = 1, #fields, 2 do
    if fields[i] == name then return fields[i + 1] end
  end
  return ''
end
local function isOwn(entry) return string.sub(fieldOf(entry, 'h'), 1, 5) == '${HEADER_START}' end
local function newest() return redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1] end
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'stream' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
local last = newest()
local removed = 0
while last and not isOwn(last) do
  if removed == 1000 then return false end
  redis.call('XDEL', KEYS[1], last[1])
  removed = removed + 1
  last = newest()
end
local head, hash = 0, ''
if last then head = tonumber(string.match(last[1], '^%d+')); hash = fieldOf(last, 'x') end
`;

/** Returns offset and hash of the log's last entry; 0 and `""` without one. KEYS: log. */
export const HEAD_SCRIPT = `${MENDED_LOG}
return {head, hash}
`;

/**
 * Appends an entry if the log ends with the entry before it. The entry's offset is its id in the
 * stream, so that reading continues by offset. If `mark` is 1, the entry starts an epoch. The
 * script then resets the checkpoint's term to 0, so that a checkpoint of any term may replace it:
 * the log before the entry may be another cluster's, with a checkpoint of a higher term. If the log
 * already has the entry, writes the key `touch`. The entry may have been written over an earlier
 * connection, and the WAIT that follows covers only writes of its own connection. All keys are in
 * one slot.
 *
 * Returns `{"appended"}` if the log now has the entry, even if it had it before. Otherwise returns
 * `{"fenced"}`, or `{"truncated", offset, hash}` with the log's end.
 *
 * KEYS: log, touch, checkpoint. ARGV: offset, hash of the entry before, hash, header, body, oldest
 * offset to retain, mark. The newest entry is never trimmed, so that the end of the log survives.
 */
export const APPEND_SCRIPT = `${MENDED_LOG}
local offset = tonumber(ARGV[1])
if head < offset - 1 then return {'truncated', head, hash} end
if head >= offset then
  local own = redis.call('XRANGE', KEYS[1], offset .. '-0', offset .. '-0')[1]
  if not own or fieldOf(own, 'x') ~= ARGV[3] then return {'fenced'} end
  redis.call('SET', KEYS[2], offset)
  return {'appended'}
end
if hash ~= ARGV[2] then return {'fenced'} end
local function add()
  return redis.pcall('XADD', KEYS[1], offset .. '-0', 'x', ARGV[3], 'h', ARGV[4], 'b', ARGV[5])
end
local added = add()
if type(added) == 'table' and string.find(added.err, 'smaller', 1, true) then
  -- The stream still counts from an entry that was deleted.
  redis.call('XSETID', KEYS[1], head .. '-0')
  added = add()
end
if type(added) == 'table' then return added end
if ARGV[7] == '1' and redis.call('TYPE', KEYS[3]).ok == 'hash' then redis.call('HSET', KEYS[3], 'term', 0) end
redis.call('XTRIM', KEYS[1], 'MINID', '~', ARGV[6] .. '-0')
return {'appended'}
`;

/**
 * Sets a value that expires, unless there is another one; in place of one that another program
 * wrote, which does not expire or lasts longer than this one. Returns the present value. KEYS:
 * market. ARGV: value, time in ms, 1 to replace any value.
 */
export const AGREE_SCRIPT = `
local leftMs = redis.call('TYPE', KEYS[1]).ok == 'string' and redis.call('PTTL', KEYS[1]) or 0
if ARGV[3] ~= '1' and leftMs > 0 and leftMs <= tonumber(ARGV[2]) then
  local present = redis.call('GET', KEYS[1])
  if present ~= ARGV[1] then return present end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`;

/**
 * Stores a checkpoint, in place of a key of another type, and keeps no field of the one before.
 * Returns `stored`; or `fenced` if one of a later term, or of a later position in the same term, is
 * stored. KEYS: checkpoint. ARGV: term,
 * offset, then names and values.
 */
export const STORE_SCRIPT = `
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
local term, offset = unpack(redis.call('HMGET', KEYS[1], 'term', 'offset'))
local later = (tonumber(term) or 0) - tonumber(ARGV[1])
if later > 0 or (later == 0 and (tonumber(offset) or 0) > tonumber(ARGV[2])) then return 'fenced' end
-- Nothing undoes a deletion, so write first: the server may refuse to.
redis.call('HSET', KEYS[1], 'term', ARGV[1], 'offset', ARGV[2])
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'term', ARGV[1], 'offset', ARGV[2], unpack(ARGV, 3))
return 'stored'
`;
