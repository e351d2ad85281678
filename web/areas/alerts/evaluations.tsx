/** Last evaluations of a rule, or of one of its alerts: the value, and why the alert fired or not */

import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatAlertValue } from './alert-format.ts';
import { evaluationsCall } from './calls.ts';

export const Evaluations = ({ ruleId, alertId }: { readonly ruleId: string; readonly alertId?: string }) => {
  const hasAlert = alertId !== undefined;
  const query = { limit: 20, ...(hasAlert ? { alertId } : {}) };
  const { response, error } = useQuery(evaluationsCall, { params: { id: ruleId }, query });
  return (
    <>
      <ErrorMessage error={error} />
      <table class="figures">
        <TableHeader
          columns={[
            'Time',
            'State',
            ...(hasAlert ? ['Value', 'Reason'] : ['Instances', 'Firing', 'Duration', 'Failed']),
          ]}
        />
        <tbody>
          {response?.items.map(({ at, state, value, reason, error: evaluationError, groups, firing, durationMs }) => (
            <tr key={at}>
              <td>{formatIsoTime(at)}</td>
              <td>{state}</td>
              {hasAlert ? (
                <>
                  <td>{formatAlertValue({ value, reason })}</td>
                  <td>{renderText(evaluationError ?? reason)}</td>
                </>
              ) : (
                <>
                  <td>{groups}</td>
                  <td>{firing}</td>
                  <td>{Math.round(durationMs)} ms</td>
                  <td class={evaluationError === null ? '' : 'text-error'}>{renderText(evaluationError ?? 'no')}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};
