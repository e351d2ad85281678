/** Instances of an alert rule in its last evaluation, with their states, values and reasons */
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { toSeverityLevel } from '../../frame/severity.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatAlertValue, formatLabels } from './alert-format.ts';
import { groupsCall } from './calls.ts';

export const RuleInstances = ({ ruleId }: { readonly ruleId: string }) => {
  const { response, error } = useQuery(groupsCall, { params: { id: ruleId }, query: { limit: 100 } });
  return (
    <>
      <h3>Instances</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : response.items.length === 0 ? (
        <p class="soft">The last evaluation found no instances.</p>
      ) : (
        <table class="figures texts">
          <TableHeader columns={['Instance', 'State', 'Value', 'Reason', 'Active since']} />
          <tbody>
            {response.items.map(({ alertId, labels, state, severity, value, reason, since }) => (
              <tr key={alertId}>
                <td>
                  <Link url={toArea('/alerts/history', { alertId })}>
                    <bdi>{renderText(formatLabels(labels) || 'all')}</bdi>
                  </Link>
                </td>
                <td class={state === 'firing' ? `text-${toSeverityLevel(severity)}` : ''}>{state}</td>
                <td>{formatAlertValue({ value, reason })}</td>
                <td>{renderText(reason)}</td>
                <td>{formatIsoTime(since)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {response?.isTruncated === true ? <p class="soft">Only the first 100 are shown.</p> : null}
    </>
  );
};
