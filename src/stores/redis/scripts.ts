import { createHash } from 'node:crypto';

/*
 * What is done in Redis, each as one script, so that it happens whole or not at all and between nothing else.
 *
 * KEYS: 1 the head (a hash), 2 the journal (a list), 3 the snapshot (a list), 4 the snapshot that is being saved (a list).
 *
 * The head holds:
 *   format                the version of all this
 *   instance              drawn when the place was made: another one, or none, means that what was kept is gone
 *   epoch, owner          who may write; the owner is drawn at each opening, since a server that fell back to an older
 *                         state gives the same epoch twice
 *   first, sequence       the numbers of the first record that is kept and of the last one
 *   call                  of the owner's appends the last that was let through, so that one that is sent again is known
 *   former, formerCall    the same of the owner before, whose answer may have been lost when it was deposed
 *   snapshot, parts       the last record whose effect is in the snapshot, and of how many parts it is
 *   saving, saved         of the owner's snapshots the one that is being saved, and the last that was
 *
 * Every script but the first begins with the fence: ARGV 1 the instance, 2 the owner, 3 the last record that the owner knows to
 * be kept. The first word of each answer tells how it went.
 */

export interface Script {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

export const FORMAT = 1;

const HEAD = `
local head = redis.call('HMGET', KEYS[1],
  'instance', 'owner', 'epoch', 'first', 'sequence', 'call', 'snapshot', 'parts', 'saving', 'saved')
local instance, owner, epoch = head[1], head[2], head[3]
local first, sequence, call = tonumber(head[4]), tonumber(head[5]), head[6]
local snapshot, parts, saving, saved = tonumber(head[7]), tonumber(head[8]), tonumber(head[9]), tonumber(head[10])
local function text(number) return string.format('%.0f', number) end
local function damage()
  if redis.call('LLEN', KEYS[2]) ~= sequence - first + 1 then return 'records are missing' end
  if redis.call('LLEN', KEYS[3]) ~= parts then return 'parts of the snapshot are missing' end
end
`;

const FENCE = `${HEAD}
if instance ~= ARGV[1] then return {'lost', 'everything is gone'} end
if owner ~= ARGV[2] then
  local former = redis.call('HMGET', KEYS[1], 'former', 'formerCall')
  return {'owner', epoch, former[1] or '', former[2] or ''}
end
if sequence < tonumber(ARGV[3]) then return {'lost', 'its last record is ' .. text(sequence)} end
if damage() then return {'lost', damage()} end
`;

/** ARGV: an instance in case there is none yet, and the new owner. */
export const OPEN = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then
  if redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then return {'damaged', '0', 'the head is missing'} end
  redis.call('HSET', KEYS[1], 'format', '${FORMAT}', 'instance', ARGV[1], 'epoch', '0', 'first', '1', 'sequence', '0',
    'snapshot', '0', 'parts', '0')
end
local format = redis.call('HGET', KEYS[1], 'format')
if format ~= '${FORMAT}' then return {'format', format or ''} end
${HEAD}
if not (instance and epoch and first and sequence and snapshot and parts) then
  return {'damaged', '0', 'the head is incomplete'}
end
if damage() then return {'damaged', text(first), damage()} end
redis.call('UNLINK', KEYS[4])
redis.call('HSET', KEYS[1], 'former', owner or '', 'formerCall', call or '')
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'call', '0', 'saving', '0', 'saved', '0')
epoch = redis.call('HINCRBY', KEYS[1], 'epoch', 1)
return {'ok', instance, text(epoch), text(sequence)}
`);

/** ARGV after the fence: the number before, the new number, which call this is, the record. */
export const APPEND = script(`${FENCE}
if text(sequence) == ARGV[5] and call == ARGV[6] then return {'ok'} end
if text(sequence) ~= ARGV[4] then return {'sequence'} end
redis.call('RPUSH', KEYS[2], ARGV[7])
redis.call('HSET', KEYS[1], 'sequence', ARGV[5], 'call', ARGV[6])
return {'ok'}
`);

/** What is kept, for a load. */
export const CONTENTS = script(`${FENCE}
return {'ok', text(snapshot), text(parts), text(first), text(sequence)}
`);

/**
 * ARGV after the fence: which list, the place to begin at, how many bytes to read at least. Looks at few elements, and then
 * at as many more as fit by their mean, since nobody knows how large they are.
 */
export const READ = script(`${FENCE}
local key, at, wanted = KEYS[tonumber(ARGV[4])], tonumber(ARGV[5]), tonumber(ARGV[6])
local answer, read, count, step = {'ok'}, 0, 0, 16
repeat
  local some = redis.call('LRANGE', key, at, at + step - 1)
  for _, element in ipairs(some) do
    answer[#answer + 1] = element
    read = read + #element
  end
  local ended = #some < step
  at, count = at + #some, count + #some
  step = math.max(16, math.min(2000, math.floor((wanted - read) * count / math.max(1, read))))
until ended or read >= wanted or count >= 4000
return answer
`);

/** ARGV after the fence: which snapshot of the owner this is. */
export const BEGIN_SNAPSHOT = script(`${FENCE}
if tonumber(ARGV[4]) <= saving then return {'ok'} end
redis.call('UNLINK', KEYS[4])
redis.call('HSET', KEYS[1], 'saving', ARGV[4])
return {'ok'}
`);

/** ARGV after the fence: which snapshot, how many parts came before, the next ones. */
export const PUSH_PARTS = script(`${FENCE}
if tonumber(ARGV[4]) ~= saving then return {'lost', 'the snapshot that was being saved'} end
local before, present = tonumber(ARGV[5]), redis.call('LLEN', KEYS[4])
if present == before + #ARGV - 5 then return {'ok'} end
if present ~= before then return {'lost', 'the snapshot that was being saved'} end
for n = 6, #ARGV do redis.call('RPUSH', KEYS[4], ARGV[n]) end
return {'ok'}
`);

/** ARGV after the fence: which snapshot, the last record in it, of how many parts it is. Makes it the one that counts. */
export const COMMIT_SNAPSHOT = script(`${FENCE}
if tonumber(ARGV[4]) == saved then return {'ok'} end
if tonumber(ARGV[4]) ~= saving or redis.call('LLEN', KEYS[4]) ~= tonumber(ARGV[6]) then
  return {'lost', 'the snapshot that was being saved'}
end
if tonumber(ARGV[5]) > sequence then return {'refused', 'the journal ends before the record it stands for'} end
redis.call('HSET', KEYS[1], 'saved', ARGV[4])
if tonumber(ARGV[5]) < snapshot then
  redis.call('UNLINK', KEYS[4])
  return {'ok'}
end
redis.call('UNLINK', KEYS[3])
if tonumber(ARGV[6]) > 0 then redis.call('RENAME', KEYS[4], KEYS[3]) end
redis.call('HSET', KEYS[1], 'snapshot', ARGV[5], 'parts', ARGV[6])
return {'ok'}
`);

/** ARGV after the fence: how many records may go at once. Answers how many are still to go. */
export const TRIM = script(`${FENCE}
local excess = snapshot + 1 - first
if excess <= 0 then return {'ok', '0'} end
local going = math.min(excess, tonumber(ARGV[4]))
redis.call('LTRIM', KEYS[2], going, -1)
redis.call('HSET', KEYS[1], 'first', text(first + going))
return {'ok', text(excess - going)}
`);
