/** Hunts: new rules that were run on earlier records */
import type { listRetroHunts } from '../../../api/groups/siem/retro-hunts.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Hunt = Answered<typeof listRetroHunts>['items'][number];

const HuntDetails = ({ of: { ruleIds, rules, from, to, message } }: { readonly of: Hunt }) => (
  <>
    {message === '' ? null : <p class="problem">{shownText(message)}</p>}
    <Fields values={{ from: shownMoment(from), until: shownMoment(to) }} />
    <h3>Rules</h3>
    <ul class="links column">
      {ruleIds.map((id) => (
        <li key={id}>
          <Link to={toArea('/detections/rules', { open: id })}>{shownText(id)}</Link>{' '}
          <Link to={toArea('/detections', { ruleId: id, from, to })}>
            signals<span class="sr-only"> {shownText(id)}</span>
          </Link>
        </li>
      ))}
    </ul>
    {rules > ruleIds.length ? <p class="soft">And {rules - ruleIds.length} more.</p> : null}
  </>
);

export const Hunts = listed({
  title: 'Hunts',
  call: callOf<typeof listRetroHunts>('GET', '/api/siem/retro-hunts'),
  nothing: 'No retroactive hunts: no new rule was run on stored records.',
  keyOf: ({ id }) => id,
  columns: {
    Started: ({ createdAt }) => shownMoment(createdAt).slice(0, 19),
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
  numbers: ['Rules', 'Records', 'Signals'],
  Open: ({
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
      title={item === undefined ? id : `Hunt of ${shownMoment(item.createdAt).slice(0, 19)}`}
      onClose={onClose}
    >
      {item === undefined ? <p class="soft">This hunt is not on the loaded pages.</p> : <HuntDetails of={item} />}
    </SidePanel>
  ),
});
