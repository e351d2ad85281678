/** Maintenance windows: their times, and the alerts that they mute */
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { formatRecurrence, NextOccurrences } from '../../editors/plan.tsx';
import { projects } from '../../frame/project.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { createMaintenanceWindowCall, type MaintenanceWindow, maintenanceWindowsCall } from './calls.ts';
import { MaintenanceForm } from './maintenance-form.tsx';
import { SilencePreview } from './muted.tsx';
import { formatMatchers } from './shown.ts';

const noun = 'maintenance window';

const projectNames = (ids: readonly string[]): string =>
  ids.map((id) => projects.value.find((project) => project.id === id)?.name ?? id).join(', ');

const formatScope = ({ matchers = [], projectIds = [] }: MaintenanceWindow): string =>
  [
    matchers.length === 0 ? 'all alerts' : formatMatchers({ matchers }),
    ...(projectIds.length === 0 ? [] : [`of ${projectNames(projectIds)}`]),
  ].join(' ');

const Details = ({ item }: { readonly item: MaintenanceWindow }) => {
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
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'no'),
    Scope: formatScope,
    'Next occurrence': ({ times: [next] }) => formatIsoTime(next?.from ?? null).slice(0, 16),
    Recurrence: formatRecurrence,
  },
  Tools: createNewButton(noun, createMaintenanceWindowCall),
  ItemPanel: createItemPanel({ noun, path: '/api/maintenance-windows/{id}', Form: MaintenanceForm, Details }),
});
