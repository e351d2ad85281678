/** SLOs with their status, a form, and imports from other formats */
import { openedOf, writeOf } from '../../editors/form-state.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { listed } from '../../lists/declared-list.tsx';
import { createSloCall, importCall, slosCall } from './calls.ts';
import { Left, share } from './figures.tsx';
import { SloForm } from './form.tsx';
import { Details } from './objective.tsx';
import { shownWindow } from './window-fields.tsx';

const noun = 'objective';

const List = listed({
  title: 'Objectives',
  call: slosCall,
  search: 'Search by name',
  sent: { sort: 'name' },
  nothing: 'No SLOs yet.',
  keyOf: ({ id }) => id,
  columns: {
    Objective: ({ name }) => name,
    Service: ({ service }) => service,
    Target: ({ targetPct }) => `${targetPct} %`,
    Over: shownWindow,
    Indicator: ({ status }) => share(status?.sli ?? null),
    'Budget left': ({ status }) => <Left percent={status?.budget.remainingPct ?? null} />,
  },
  numbers: ['Target', 'Indicator', 'Budget left'],
  Tools: writeOf(noun, createSloCall),
  Open: openedOf({ noun, path: '/api/slos/{id}', Form: SloForm, Details }),
});

export const Slos = partsOf('Objectives', [
  { name: '', title: 'Objectives', View: List },
  {
    name: 'import',
    title: 'Import',
    requiredCall: importCall,
    View: later(async () => (await import('./import.tsx')).Import),
  },
]);
