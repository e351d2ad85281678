/** Dead letters: rejected payloads with their bytes and errors, and replay or discard */
import { useEffect, useState } from 'preact/hooks';
import type {
  discardDeadLetter,
  listDeadLetters,
  showDeadLetter,
} from '../../../api/groups/dead-letter/dead-letters.ts';
import type { replayDeadLetters, showReplay } from '../../../api/groups/dead-letter/replays.ts';
import { shownValue } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Raw } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type DeadLetter = Answered<typeof showDeadLetter>;
type Replay = Answered<typeof showReplay>;

/** Bytes per line of the dump, and maximum number of dumped bytes */
const lineBytes = 16;
const maxShownBytes = 4_096;

/** Returns a dump: offset, bytes in hexadecimal, and printable characters. */
const dumpOf = (payload: string): string => {
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0)).subarray(0, maxShownBytes);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += lineBytes) {
    const part = [...bytes.subarray(at, at + lineBytes)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(3 * lineBytes - 1)}  ${text}`);
  }
  return lines.join('\n');
};

const outcomeOf = ({ dryRun, state, matched, done, already, failed, results }: Replay): string => {
  const failureReason = results.find(({ outcome }) => outcome === 'failed')?.message ?? '';
  const did = dryRun ? 'would be replayed' : 'replayed';
  return `${state}: ${matched} matched, ${done} ${did}, ${already} already handled by another user, ${failed} failed. ${failureReason}`;
};

const Change = ({ deadLetter }: { readonly deadLetter: DeadLetter }) => {
  const [replaying] = useState(() => new Action(callOf<typeof replayDeadLetters>('POST', '/api/dead-letter/replay')));
  const [discarding] = useState(() => new Action(callOf<typeof discardDeadLetter>('DELETE', '/api/dead-letter/{id}')));
  const [progress] = useState(() => new ApiQuery(callOf<typeof showReplay>('GET', '/api/dead-letter/replays/{id}')));
  const { id, state } = deadLetter;
  const { answer } = progress.state.value;
  useEffect(() => {
    if (answer?.state !== 'running') return;
    const timer = setTimeout(() => progress.run({ params: { id: answer.id } }), 500);
    return () => clearTimeout(timer);
  }, [progress.state.value]);
  useEffect(() => {
    if (answer?.state === 'finished' && !answer.dryRun) refresh();
  }, [answer?.state]);
  const replay = async (dryRun: boolean): Promise<void> => {
    const job = await replaying.run({ body: { ids: [id], dryRun } });
    if (job !== undefined) progress.run({ params: { id: job.id } });
  };
  if (state !== 'open') return <p>State: {state}.</p>;
  return (
    <div class="act">
      <button type="button" class="plain" onClick={() => void replay(true)}>
        Preview replay
      </button>
      <button type="button" onClick={() => void replay(false)}>
        Replay
      </button>
      <button type="button" class="plain" onClick={() => void discarding.run({ params: { id } }).then(refresh)}>
        Discard
      </button>
      <Problem error={replaying.error.value ?? discarding.error.value ?? progress.state.value.error} />
      {answer === undefined ? null : <p role="status">{shownText(outcomeOf(answer))}</p>}
    </div>
  );
};

const OpenDeadLetter = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { answer, error } = useQuery(callOf<typeof showDeadLetter>('GET', '/api/dead-letter/{id}'), { params: { id } });
  return (
    <SidePanel label="Dead letter" title={answer?.reason ?? 'Dead letter'} onClose={onClose}>
      <Problem error={error} />
      {answer === undefined ? null : (
        <>
          <p>{shownText(answer.message)}</p>
          <Change deadLetter={answer} />
          <Fields
            values={{
              signal: answer.signal,
              kind: answer.kind,
              'error at byte': answer.position,
              received: shownMoment(answer.receivedAt),
              from: answer.source,
              project: answer.projectId,
              key: answer.keyId,
              size: shownValue(answer.size, 'By'),
              type: answer.contentType,
              encoding: answer.contentEncoding,
              format: answer.format,
            }}
          />
          <h3>Content</h3>
          {answer.payload === null ? (
            <p class="soft">The content has expired.</p>
          ) : (
            <>
              <Raw label="Bytes" text={dumpOf(answer.payload)} />
              {answer.truncated || answer.size > maxShownBytes ? (
                <p class="soft">First {maxShownBytes} bytes shown.</p>
              ) : null}
            </>
          )}
        </>
      )}
    </SidePanel>
  );
};

export const DeadLetters = listed({
  title: 'Dead letters',
  call: callOf<typeof listDeadLetters>('GET', '/api/dead-letter'),
  isRanged: true,
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['open', 'open'],
        ['replayed', 'replayed'],
        ['discarded', 'discarded'],
      ],
    },
    {
      name: 'signal',
      label: 'Signal',
      options: [
        ['', 'all'],
        ['logs', 'logs'],
        ['metrics', 'metrics'],
        ['traces', 'traces'],
      ],
    },
  ],
  nothing: 'No dead letters in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Reason: ({ reason }) => reason,
    Message: ({ message }) => message,
    Signal: ({ signal }) => signal,
    State: ({ state }) => state,
    Size: ({ size }) => shownValue(size, 'By'),
    Received: ({ receivedAt }) => shownMoment(receivedAt),
  },
  numbers: ['Size'],
  Open: OpenDeadLetter,
});
