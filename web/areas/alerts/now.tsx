/** Current alerts, firing ones with value, start and reason */
import { useEffect } from 'preact/hooks';
import { Paged } from '../../client/pages.ts';
import { change, inAddress } from '../../frame/address.ts';
import { useEscape } from '../../frame/escape.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { levelOf } from '../../frame/severity.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { refreshes } from '../../frame/time-range.ts';
import { Found } from '../../lists/empty-state.tsx';
import { OpenAlert } from './alert-panel.tsx';
import { type Alert, alertsCall } from './calls.ts';
import { shownLabels, shownValue } from './shown.ts';

const list = new Paged(alertsCall, ({ items }) => items);

const setOpen = (alert: string): void => change({ alert }, { replace: inAddress('alert') !== '' });

const cellsOf = ({ state, severity, ruleName, labels, value, reason, since, acknowledged }: Alert) => [
  <span key="state" class={state === 'firing' ? `text-${levelOf(severity)}` : ''}>
    {acknowledged === null ? state : `${state}, acknowledged`}
  </span>,
  severity ?? '',
  <bdi key="rule">{shownText(ruleName)}</bdi>,
  <bdi key="labels">{shownText(shownLabels(labels))}</bdi>,
  shownValue(value),
  <bdi key="why">{shownText(reason)}</bdi>,
  since === null ? '' : shownTime(Date.parse(since)),
];

const Listed = ({ open }: { readonly open: string }) => (
  <Found
    of={list}
    nothing="No alerts are firing."
    label="Alerts"
    class="alerts"
    columns={['State', 'Severity', 'Rule', 'Labels', 'Value', 'Reason', 'Active since']}
    keyOf={({ id }) => id}
    classOf={({ state, severity }) => (state === 'firing' ? `level-${levelOf(severity)}` : '')}
    cellsOf={cellsOf}
    open={open}
    onOpen={setOpen}
  />
);

export const AlertsNow = () => {
  useEffect(() => {
    list.load({ query: {} });
    return () => list.cancel();
  }, [refreshes.value]);
  useEscape(() => {
    if (inAddress('alert') !== '') setOpen('');
  });
  const open = inAddress('alert');
  const alert = list.items.value.find(({ id }) => id === open);
  const { error, answer } = list.first.state.value;
  return (
    <>
      <Problem error={error} />
      <div class={open === '' ? 'list' : 'list with-record'}>
        <Listed open={open} />
        {open === '' || answer === undefined ? null : (
          <OpenAlert key={open} alert={alert} onClose={() => setOpen('')} />
        )}
      </div>
      <Problem error={list.furtherError.value} />
      <Freshness of={list.first.state.value} />
    </>
  );
};
