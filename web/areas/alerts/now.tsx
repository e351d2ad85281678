/** Current alerts with their value, start time and reason */

import { useEffect } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { Badge } from '../../components/badge.tsx';
import { formatRuleName } from '../../frame/action-titles.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { useEscape } from '../../frame/escape.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { toSeverityLevel, toSeverityTone } from '../../frame/severity.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { TimeCell } from '../../frame/time-cell.tsx';
import { refreshCount } from '../../frame/time-range.ts';
import { ListResult } from '../../lists/list-result.tsx';
import { formatAlertValue, formatLabels } from './alert-format.ts';
import { AlertPanel } from './alert-panel.tsx';
import { type Alert, alertsCall } from './calls.ts';

const alertPages = new PagedList(alertsCall, ({ items }) => items);

const openAlert = (alertId: string): void => setParams({ alert: alertId }, { replace: readParam('alert') !== '' });

const renderCells = ({ state, severity, ruleName, labels, value, reason, since, acknowledged }: Alert) => [
  <Badge key="state" tone={state === 'firing' ? toSeverityTone(severity) : 'neutral'}>
    {acknowledged === null ? state : `${state}, acknowledged`}
  </Badge>,
  <SeverityBadge key="severity" severity={severity} />,
  <bdi key="rule">{renderText(formatRuleName(ruleName))}</bdi>,
  <bdi key="labels">{renderText(formatLabels(labels))}</bdi>,
  formatAlertValue({ value, reason }),
  <bdi key="why">{renderText(reason)}</bdi>,
  since === null ? '' : <TimeCell key="since" ms={Date.parse(since)} />,
];

const AlertTable = ({ openAlertId }: { readonly openAlertId: string }) => (
  <ListResult
    list={alertPages}
    emptyText="No alerts are firing."
    label="Alerts"
    class="alerts"
    columns={['State', 'Severity', 'Rule', 'Labels', 'Value', 'Reason', 'Active since']}
    toKey={({ id }) => id}
    toClass={({ state, severity }) => (state === 'firing' ? `level-${toSeverityLevel(severity)}` : '')}
    toCells={renderCells}
    openKey={openAlertId}
    onOpen={openAlert}
  />
);

export const ActiveAlerts = () => {
  useEffect(() => {
    alertPages.load({ query: {} });
    return () => alertPages.cancel();
  }, [refreshCount.value]);
  useEscape(() => {
    if (readParam('alert') !== '') openAlert('');
  });
  const openAlertId = readParam('alert');
  const alert = alertPages.items.value.find(({ id }) => id === openAlertId);
  const { error, response } = alertPages.first.state.value;
  return (
    <>
      <ErrorMessage error={error} />
      <div class={openAlertId === '' ? 'list' : 'list with-record'}>
        <AlertTable openAlertId={openAlertId} />
        {openAlertId === '' || response === undefined ? null : (
          <AlertPanel key={openAlertId} id={openAlertId} alert={alert} onClose={() => openAlert('')} />
        )}
      </div>
      <ErrorMessage error={alertPages.loadMoreError.value} />
      <Freshness queryState={alertPages.first.state.value} />
    </>
  );
};
