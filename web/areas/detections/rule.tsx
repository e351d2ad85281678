/** One detection rule beside the list: what it says, whether its telemetry came, and switching it. */
import { useState } from 'preact/hooks';
import type { ruleResource } from '../../../api/groups/siem/rule.ts';
import { Action } from '../../client/action.ts';
import { changeOf, type ViewOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { may } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { Problem } from '../../frame/standing.tsx';
import { refresh } from '../../frame/time-range.ts';
import { Beside, Fields } from '../../lists/beside.tsx';
import { Raw } from '../../lists/raw.tsx';

type Rule = ViewOf<typeof ruleResource>;

const changeCall = changeOf<typeof ruleResource, { readonly enabled: boolean }>('/api/siem/rules/{id}');

const Switch = ({ rule }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(changeCall));
  const { id, version, enabled } = rule;
  if (!may(changeCall)) return null;
  const run = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: { enabled: !enabled }, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {enabled ? 'Switch off' : 'Enable'}
      </button>
      <Problem error={action.error.value} />
    </div>
  );
};

export const OpenRule = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Rule | undefined;
  readonly onClose: () => void;
}) => (
  <Beside label="Rule" title={item?.title ?? id} onClose={onClose}>
    {item === undefined ? (
      <p class="soft">It is not in this list.</p>
    ) : (
      <>
        <Switch rule={item} />
        <p>{shownText(item.description, { lines: true })}</p>
        <ul class="links">
          <li>
            <Link to={toArea('/detections', { ruleId: id })}>Signals</Link>
          </li>
        </ul>
        {item.switchedOff === null ? null : (
          <p class="problem">It was stopped at {shownMoment(item.switchedOff.at)}, because it took too long.</p>
        )}
        <Fields
          values={{
            ...{ severity: item.level, kind: item.kind, status: item.status, tags: item.tags.join(', ') },
            ...{ telemetry: item.telemetry, 'rules that are not there': item.unknownRules.join(', '), note: item.note },
          }}
        />
        <h3>Sigma</h3>
        <Raw label="Sigma" text={item.source} />
      </>
    )}
  </Beside>
);
