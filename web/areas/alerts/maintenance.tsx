/** Maintenance windows: their times, and the alerts that they mute */
import { openedOf, writeOf } from '../../editors/form-state.tsx';
import { againOf, NextTimes } from '../../editors/plan.tsx';
import { projects } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import { createWindowCall, type MaintenanceWindow, windowsCall } from './calls.ts';
import { MaintenanceForm } from './maintenance-form.tsx';
import { Muted } from './muted.tsx';
import { shownMatchers } from './shown.ts';

const noun = 'maintenance window';

const projectNames = (ids: readonly string[]): string =>
  ids.map((id) => projects.value.find((project) => project.id === id)?.name ?? id).join(', ');

const mutesOf = ({ matchers = [], projectIds = [] }: MaintenanceWindow): string =>
  [
    matchers.length === 0 ? 'all alerts' : shownMatchers({ matchers }),
    ...(projectIds.length === 0 ? [] : [`of ${projectNames(projectIds)}`]),
  ].join(' ');

const Details = ({ item }: { readonly item: MaintenanceWindow }) => {
  const { description = '', durationMinutes, timeZone, times, matchers = [], excludedFromSlos } = item;
  return (
    <>
      <p>{shownText(description, { lines: true })}</p>
      <Fields
        values={{
          scope: mutesOf(item),
          recurrence: againOf(item),
          'duration (minutes)': durationMinutes,
          'time zone': timeZone,
          'excluded from SLOs': excludedFromSlos === true ? 'yes' : 'no',
        }}
      />
      {matchers.length === 0 ? null : <Muted matchers={matchers} />}
      <NextTimes times={times} />
    </>
  );
};

export const Maintenance = listed({
  title: 'Maintenance windows',
  call: windowsCall,
  search: 'window name',
  nothing: 'No maintenance windows yet.',
  keyOf: ({ id }) => id,
  columns: {
    Window: ({ name }) => name,
    State: ({ isActive }) => (isActive ? <span class="text-warn">active</span> : 'no'),
    Scope: mutesOf,
    'Next occurrence': ({ times: [next] }) => shownMoment(next?.from ?? null).slice(0, 16),
    Recurrence: againOf,
  },
  Tools: writeOf(noun, createWindowCall),
  Open: openedOf({ noun, path: '/api/maintenance-windows/{id}', Form: MaintenanceForm, Details }),
});
