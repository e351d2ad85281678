/** SLOs area: list with status, form, and import from other formats */
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { createSloCall, importCall, slosCall } from './calls.ts';
import { BudgetRemaining, formatRatio } from './figures.tsx';
import { SloDetails } from './objective.tsx';
import { formatWindow } from './window-fields.tsx';

const noun = 'SLO';

const SloForm = lazyLoad(async () => (await import('./form.tsx')).SloForm);

const SloList = createListView({
  title: 'SLOs',
  call: slosCall,
  search: 'Search by name',
  fixedParams: { sort: 'name' },
  emptyText: 'No SLOs yet.',
  toKey: ({ id }) => id,
  columns: {
    SLO: ({ name }) => name,
    Service: ({ service }) => service,
    Target: ({ targetPct }) => `${targetPct} %`,
    Window: formatWindow,
    SLI: ({ status }) =>
      status?.hasNoData === true ? <span class="text-error">no data</span> : formatRatio(status?.sli ?? null),
    'Budget remaining': ({ status }) => <BudgetRemaining percent={status?.budget.remainingPct ?? null} />,
  },
  wideColumns: ['Service', 'Target', 'Window'],
  numericColumns: ['Target', 'SLI', 'Budget remaining'],
  Tools: createNewButton(noun, createSloCall),
  ItemPanel: createItemPanel({ noun, path: '/api/slos/{id}', Form: SloForm, Details: SloDetails }),
});

export const Slos = createTabbedView('SLOs', [
  { name: '', title: 'SLOs', View: SloList },
  {
    name: 'import',
    title: 'Import',
    requiredCall: importCall,
    View: lazyLoad(async () => (await import('./import.tsx')).SloImport),
  },
]);
