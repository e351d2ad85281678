/** List of dead letters, and a side panel with the content, errors, replay and discard of one */
import { useEffect, useState } from 'preact/hooks';
import type {
  discardDeadLetter,
  listDeadLetters,
  showDeadLetter,
} from '../../../api/groups/dead-letter/dead-letters.ts';
import type { replayDeadLetters, showReplay } from '../../../api/groups/dead-letter/replays.ts';
import { formatQuantity } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type DeadLetter = ResponseBody<typeof showDeadLetter>;
type Replay = ResponseBody<typeof showReplay>;

/** Bytes per line of the hex dump, and the maximum number of bytes in it */
const lineBytes = 16;
const maxShownBytes = 4_096;

/** Returns a hex dump: each line has the offset, the bytes and their printable characters. */
const toHexDump = (payload: string): string => {
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0)).subarray(0, maxShownBytes);
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; offset += lineBytes) {
    const chunk = [...bytes.subarray(offset, offset + lineBytes)];
    const hex = chunk.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = chunk.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${offset.toString(16).padStart(6, '0')}  ${hex.padEnd(3 * lineBytes - 1)}  ${text}`);
  }
  return lines.join('\n');
};

const formatReplay = ({ dryRun, state, matched, done, already, failed, results }: Replay): string => {
  const failureReason = results.find(({ outcome }) => outcome === 'failed')?.message ?? '';
  const replayVerb = dryRun ? 'would be replayed' : 'replayed';
  return `${state}: ${matched} matched, ${done} ${replayVerb}, ${already} already handled by another user, ${failed} failed. ${failureReason}`;
};

const DeadLetterActions = ({ deadLetter }: { readonly deadLetter: DeadLetter }) => {
  const [replayAction] = useState(
    () => new Action(declareCall<typeof replayDeadLetters>('POST', '/api/dead-letter/replay')),
  );
  const [discardAction] = useState(
    () => new Action(declareCall<typeof discardDeadLetter>('DELETE', '/api/dead-letter/{id}')),
  );
  const [replayQuery] = useState(
    () => new ApiQuery(declareCall<typeof showReplay>('GET', '/api/dead-letter/replays/{id}')),
  );
  const { id, state } = deadLetter;
  const { response } = replayQuery.state.value;
  useEffect(() => {
    if (response?.state !== 'running') return;
    const timer = setTimeout(() => replayQuery.run({ params: { id: response.id } }), 500);
    return () => clearTimeout(timer);
  }, [replayQuery.state.value]);
  useEffect(() => {
    if (response?.state === 'finished' && !response.dryRun) refresh();
  }, [response?.state]);
  const replay = async (dryRun: boolean): Promise<void> => {
    const job = await replayAction.run({ body: { ids: [id], dryRun } });
    if (job !== undefined) replayQuery.run({ params: { id: job.id } });
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
      <button type="button" class="plain" onClick={() => void discardAction.run({ params: { id } }).then(refresh)}>
        Discard
      </button>
      <ErrorMessage error={replayAction.error.value ?? discardAction.error.value ?? replayQuery.state.value.error} />
      {response === undefined ? null : <p role="status">{renderText(formatReplay(response))}</p>}
    </div>
  );
};

const DeadLetterPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { response, error } = useQuery(declareCall<typeof showDeadLetter>('GET', '/api/dead-letter/{id}'), {
    params: { id },
  });
  return (
    <SidePanel label="Dead letter" title={response?.reason ?? 'Dead letter'} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <p>{renderText(response.message)}</p>
          <p>What to do: {renderText(response.action)}</p>
          <DeadLetterActions deadLetter={response} />
          <Fields
            values={{
              signal: response.signal,
              kind: response.kind,
              'error at byte': response.position,
              received: formatIsoTime(response.receivedAt),
              from: response.source,
              project: response.projectId,
              key: response.keyId,
              size: formatQuantity(response.size, 'By'),
              type: response.contentType,
              encoding: response.contentEncoding,
              format: response.format,
            }}
          />
          <h3>Content</h3>
          {response.payload === null ? (
            <p class="soft">The content has expired.</p>
          ) : (
            <>
              <RawText label="Bytes" text={toHexDump(response.payload)} />
              {response.truncated || response.size > maxShownBytes ? (
                <p class="soft">Only the first {maxShownBytes} bytes are shown.</p>
              ) : null}
            </>
          )}
        </>
      )}
    </SidePanel>
  );
};

export const DeadLetters = createListView({
  title: 'Dead letters',
  call: declareCall<typeof listDeadLetters>('GET', '/api/dead-letter'),
  hasTimeRange: true,
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
  emptyText: 'No dead letters in this range.',
  toKey: ({ id }) => id,
  columns: {
    Reason: ({ reason }) => reason,
    Message: ({ message }) => message,
    Signal: ({ signal }) => signal,
    State: ({ state }) => state,
    Size: ({ size }) => formatQuantity(size, 'By'),
    Received: ({ receivedAt }) => formatIsoTime(receivedAt),
  },
  numericColumns: ['Size'],
  ItemPanel: DeadLetterPanel,
});
