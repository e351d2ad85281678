/** Hunts: new rules that were run on earlier records */
import type { listRetroHunts } from '../../../api/groups/siem/retro-hunts.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond, formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Hunt = ResponseBody<typeof listRetroHunts>['items'][number];

const HuntDetails = ({ hunt: { ruleIds, rules, from, to, message } }: { readonly hunt: Hunt }) => (
  <>
    {message === '' ? null : <p class="problem">{renderText(message)}</p>}
    <Fields values={{ from: formatIsoTime(from), until: formatIsoTime(to) }} />
    <h3>Rules</h3>
    <ul class="links column">
      {ruleIds.map((id) => (
        <li key={id}>
          <Link url={toArea('/detections/rules', { open: id })}>{renderText(id)}</Link>{' '}
          <Link url={toArea('/detections', { ruleId: id, from, to })}>
            signals<span class="sr-only"> {renderText(id)}</span>
          </Link>
        </li>
      ))}
    </ul>
    {rules > ruleIds.length ? <p class="soft">And {rules - ruleIds.length} more.</p> : null}
  </>
);

export const Hunts = createListView({
  title: 'Hunts',
  call: declareCall<typeof listRetroHunts>('GET', '/api/siem/retro-hunts'),
  emptyText: 'No retroactive hunts: no new rule was run on stored records.',
  toKey: ({ id }) => id,
  columns: {
    Started: ({ createdAt }) => formatIsoSecond(createdAt),
    State: ({ status, isComplete }) => (
      <span class={status === 'failed' ? 'text-error' : ''}>
        {status}
        {isComplete || status !== 'finished' ? '' : ', partial'}
      </span>
    ),
    Rules: ({ rules }) => rules,
    Records: ({ records }) => records,
    Signals: ({ signals }) => signals,
  },
  wideColumns: ['Rules', 'Signals'],
  numericColumns: ['Rules', 'Records', 'Signals'],
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Hunt | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel
      label="Hunt"
      title={item === undefined ? id : `Hunt of ${formatIsoSecond(item.createdAt)}`}
      onClose={onClose}
    >
      {item === undefined ? <p class="soft">This hunt is not on the loaded pages.</p> : <HuntDetails hunt={item} />}
    </SidePanel>
  ),
});
