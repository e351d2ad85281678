/** Last evaluations of a rule, or of one of its alerts: the value, and why the alert fired or not */

import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { evaluationsCall } from './calls.ts';
import { formatValue } from './shown.ts';

export const Evaluations = ({ ruleId, alertId }: { readonly ruleId: string; readonly alertId?: string }) => {
  const hasAlert = alertId !== undefined;
  const query = { limit: 20, ...(hasAlert ? { alertId } : {}) };
  const { answer, error } = useQuery(evaluationsCall, { params: { id: ruleId }, query });
  return (
    <>
      <Problem error={error} />
      <table class="figures">
        <TableHeader
          columns={[
            'Time',
            'State',
            ...(hasAlert ? ['Value', 'Reason'] : ['Instances', 'Firing', 'Duration', 'Failed']),
          ]}
        />
        <tbody>
          {answer?.items.map(({ at, state, value, reason, error: evaluationError, groups, firing, durationMs }) => (
            <tr key={at}>
              <td>{shownMoment(at)}</td>
              <td>{state}</td>
              {hasAlert ? (
                <>
                  <td>{formatValue(value)}</td>
                  <td>{shownText(evaluationError ?? reason)}</td>
                </>
              ) : (
                <>
                  <td>{groups}</td>
                  <td>{firing}</td>
                  <td>{Math.round(durationMs)} ms</td>
                  <td class={evaluationError === null ? '' : 'text-error'}>{shownText(evaluationError ?? 'no')}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
};
