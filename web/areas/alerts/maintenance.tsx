/** Maintenance windows: their times, and the alerts that they mute */
import { openedOf, writeOf } from '../../editors/form-state.tsx';
import { againOf, NextTimes } from '../../editors/plan.tsx';
import { projects } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
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
      <p>{shownText(description, { lines: true })}</p>
      <Fields
        values={{
          scope: formatScope(item),
          recurrence: againOf(item),
          'duration (minutes)': durationMinutes,
          'time zone': timeZone,
          'excluded from SLOs': excludedFromSlos === true ? 'yes' : 'no',
        }}
      />
      {matchers.length === 0 ? null : <SilencePreview matchers={matchers} />}
      <NextTimes times={times} />
    </>
  );
};

export const Maintenance = listed({
  title: 'Maintenance windows',
  call: maintenanceWindowsCall,
  search: 'window name',
  nothing: 'No maintenance windows yet.',
  keyOf: ({ id }) => id,
  columns: {
    Window: ({ name }) => name,
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'no'),
    Scope: formatScope,
    'Next occurrence': ({ times: [next] }) => shownMoment(next?.from ?? null).slice(0, 16),
    Recurrence: againOf,
  },
  Tools: writeOf(noun, createMaintenanceWindowCall),
  Open: openedOf({ noun, path: '/api/maintenance-windows/{id}', Form: MaintenanceForm, Details }),
});
