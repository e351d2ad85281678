/** Current alerts with their value, start time and reason */
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
import { AlertPanel } from './alert-panel.tsx';
import { type Alert, alertsCall } from './calls.ts';
import { formatLabels, formatValue } from './shown.ts';

const alertPages = new Paged(alertsCall, ({ items }) => items);

const openAlert = (alert: string): void => change({ alert }, { replace: inAddress('alert') !== '' });

const renderCells = ({ state, severity, ruleName, labels, value, reason, since, acknowledged }: Alert) => [
  <span key="state" class={state === 'firing' ? `text-${levelOf(severity)}` : ''}>
    {acknowledged === null ? state : `${state}, acknowledged`}
  </span>,
  severity ?? '',
  <bdi key="rule">{shownText(ruleName)}</bdi>,
  <bdi key="labels">{shownText(formatLabels(labels))}</bdi>,
  formatValue(value),
  <bdi key="why">{shownText(reason)}</bdi>,
  since === null ? '' : shownTime(Date.parse(since)),
];

const AlertTable = ({ open }: { readonly open: string }) => (
  <Found
    of={alertPages}
    nothing="No alerts are firing."
    label="Alerts"
    class="alerts"
    columns={['State', 'Severity', 'Rule', 'Labels', 'Value', 'Reason', 'Active since']}
    keyOf={({ id }) => id}
    classOf={({ state, severity }) => (state === 'firing' ? `level-${levelOf(severity)}` : '')}
    cellsOf={renderCells}
    open={open}
    onOpen={openAlert}
  />
);

export const ActiveAlerts = () => {
  useEffect(() => {
    alertPages.load({ query: {} });
    return () => alertPages.cancel();
  }, [refreshes.value]);
  useEscape(() => {
    if (inAddress('alert') !== '') openAlert('');
  });
  const open = inAddress('alert');
  const alert = alertPages.items.value.find(({ id }) => id === open);
  const { error, answer } = alertPages.first.state.value;
  return (
    <>
      <Problem error={error} />
      <div class={open === '' ? 'list' : 'list with-record'}>
        <AlertTable open={open} />
        {open === '' || answer === undefined ? null : (
          <AlertPanel key={open} alert={alert} onClose={() => openAlert('')} />
        )}
      </div>
      <Problem error={alertPages.furtherError.value} />
      <Freshness of={alertPages.first.state.value} />
    </>
  );
};
