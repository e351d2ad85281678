/** Maintenance windows: their times, and the alerts that they mute */
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { formatRecurrence, NextOccurrences } from '../../editors/plan.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { projects } from '../../frame/project.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { formatMatchers } from './alert-format.ts';
import { createMaintenanceWindowCall, type MaintenanceWindow, maintenanceWindowsCall } from './calls.ts';
import { MaintenanceForm } from './maintenance-form.tsx';
import { SilencePreview } from './silence-preview.tsx';

const resourceName = 'maintenance window';

const formatProjectNames = (ids: readonly string[]): string =>
  ids.map((id) => projects.value.find((project) => project.id === id)?.name ?? id).join(', ');

const formatScope = ({ matchers = [], projectIds = [] }: MaintenanceWindow): string =>
  [
    matchers.length === 0 ? 'all alerts' : formatMatchers({ matchers }),
    ...(projectIds.length === 0 ? [] : [`of ${formatProjectNames(projectIds)}`]),
  ].join(' ');

const MaintenanceWindowDetails = ({ item }: { readonly item: MaintenanceWindow }) => {
  const { description = '', durationMinutes, timeZone, times, matchers = [], excludedFromSlos } = item;
  return (
    <>
      <p>{renderText(description, { lines: true })}</p>
      <Fields
        values={{
          scope: formatScope(item),
          recurrence: formatRecurrence(item),
          'duration (minutes)': durationMinutes,
          'time zone': timeZone,
          'excluded from SLOs': excludedFromSlos === true ? 'yes' : 'no',
        }}
      />
      {matchers.length === 0 ? null : <SilencePreview matchers={matchers} />}
      <NextOccurrences times={times} />
    </>
  );
};

export const Maintenance = createListView({
  title: 'Maintenance windows',
  call: maintenanceWindowsCall,
  search: 'window name',
  emptyText: 'No maintenance windows yet.',
  toKey: ({ id }) => id,
  columns: {
    Window: ({ name }) => name,
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'inactive'),
    Scope: formatScope,
    'Next occurrence': ({ times: [next] }) => formatIsoMinute(next?.from ?? null),
    Recurrence: formatRecurrence,
  },
  Tools: createNewButton(resourceName, createMaintenanceWindowCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/maintenance-windows/{id}',
    Form: MaintenanceForm,
    Details: MaintenanceWindowDetails,
  }),
});
