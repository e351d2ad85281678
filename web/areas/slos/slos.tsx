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

const noun = 'SLO';

const List = listed({
  title: 'SLOs',
  call: slosCall,
  search: 'Search by name',
  sent: { sort: 'name' },
  nothing: 'No SLOs yet.',
  keyOf: ({ id }) => id,
  columns: {
    SLO: ({ name }) => name,
    Service: ({ service }) => service,
    Target: ({ targetPct }) => `${targetPct} %`,
    Window: shownWindow,
    SLI: ({ status }) => share(status?.sli ?? null),
    'Budget remaining': ({ status }) => <Left percent={status?.budget.remainingPct ?? null} />,
  },
  numbers: ['Target', 'SLI', 'Budget remaining'],
  Tools: writeOf(noun, createSloCall),
  Open: openedOf({ noun, path: '/api/slos/{id}', Form: SloForm, Details }),
});

export const Slos = partsOf('SLOs', [
  { name: '', title: 'SLOs', View: List },
  {
    name: 'import',
    title: 'Import',
    requiredCall: importCall,
    View: later(async () => (await import('./import.tsx')).Import),
  },
]);
