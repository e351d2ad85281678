/** Recording rule groups: their series, and the status of their rules */
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { createRecordingGroupCall, type RecordingGroup, recordingGroupsCall } from './calls.ts';
import { RecordingForm } from './recording-form.tsx';

const resourceName = 'recording group';

const describeState = ({ enabled, status }: RecordingGroup): string => {
  if (enabled === false) return 'disabled';
  if (status === null) return 'unknown';
  const failedCount = status.filter(({ error }) => error !== null).length;
  if (failedCount > 0) return `${failedCount} of ${status.length} fail`;
  if (status.some(({ evaluatedAt }) => evaluatedAt === null)) return 'pending first evaluation';
  return status.some(({ stale }) => stale) ? 'late' : 'recording';
};

const RecordingGroupDetails = ({ item }: { readonly item: RecordingGroup }) => {
  const { file, interval, delay, limit, rules, status } = item;
  return (
    <>
      <Fields
        values={{
          state: describeState(item),
          'rule file': file,
          'evaluation interval': interval,
          delay,
          'maximum series per rule': limit === 0 ? 'no limit' : limit,
        }}
      />
      <h3>Rules</h3>
      <ol>
        {rules.map(({ record, expression, labels = {} }, index) => {
          const ruleStatus = status?.[index];
          return (
            <li key={index}>
              <b>{renderText(record)}</b>
              <RawText label="Expression" text={expression} />
              {Object.keys(labels).length === 0 ? null : <Fields values={labels} />}
              {ruleStatus === undefined || ruleStatus.error === null ? null : (
                <p class="problem">{renderText(ruleStatus.error)}</p>
              )}
            </li>
          );
        })}
      </ol>
      {status === null ? null : (
        <table class="figures texts">
          <TableHeader columns={['Series', 'Last evaluation', 'Series count', 'Duration']} />
          <tbody>
            {status.map(({ record, evaluatedAt, series, durationMs }, index) => (
              <tr key={index}>
                <td>{renderText(record)}</td>
                <td>{formatIsoTime(evaluatedAt) || 'never'}</td>
                <td>{series}</td>
                <td>{Math.round(durationMs)} ms</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
};

export const Recording = createListView({
  title: 'Recording groups',
  call: recordingGroupsCall,
  search: 'group name',
  fixedParams: { sort: 'name' },
  emptyText: 'No recording groups yet.',
  toKey: ({ id }) => id,
  columns: {
    Group: ({ name }) => name,
    State: (group) => (
      <span class={group.status?.some(({ error }) => error !== null) === true ? 'text-error' : ''}>
        {describeState(group)}
      </span>
    ),
    Rules: ({ rules }) => rules.length,
    Interval: ({ interval }) => interval,
    File: ({ file }) => file,
  },
  numericColumns: ['Rules'],
  Tools: createNewButton(resourceName, createRecordingGroupCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/alerts/recording-groups/{id}',
    Form: RecordingForm,
    Details: RecordingGroupDetails,
  }),
});
