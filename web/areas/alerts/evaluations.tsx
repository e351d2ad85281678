/** Last evaluations of a rule, or of one of its alerts: the value, and why the alert fired or not */

import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { evaluationsCall } from './calls.ts';
import { shownValue } from './shown.ts';

export const Evaluations = ({ ruleId, alertId }: { readonly ruleId: string; readonly alertId?: string }) => {
  const isOfAlert = alertId !== undefined;
  const query = { limit: 20, ...(isOfAlert ? { alertId } : {}) };
  const { answer, error } = useQuery(evaluationsCall, { params: { id: ruleId }, query });
  return (
    <>
      <Problem error={error} />
      <table class="figures">
        <TableHeader
          columns={[
            'Time',
            'State',
            ...(isOfAlert ? ['Value', 'Reason'] : ['Instances', 'Firing', 'Duration', 'Failed']),
          ]}
        />
        <tbody>
          {answer?.items.map(({ at, state, value, reason, error: failed, groups, firing, durationMs }) => (
            <tr key={at}>
              <td>{shownMoment(at)}</td>
              <td>{state}</td>
              {isOfAlert ? (
                <>
                  <td>{shownValue(value)}</td>
                  <td>{shownText(failed ?? reason)}</td>
                </>
              ) : (
                <>
                  <td>{groups}</td>
                  <td>{firing}</td>
                  <td>{Math.round(durationMs)} ms</td>
                  <td class={failed === null ? '' : 'text-error'}>{shownText(failed ?? 'no')}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};
