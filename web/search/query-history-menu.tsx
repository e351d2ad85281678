/** Menu of the last queries of an explorer; a click runs one again */
import { History } from 'lucide';
import { IconButton } from '../components/button.tsx';
import { Menu } from '../components/menu.tsx';
import { setParams } from '../frame/address.ts';
import { renderText } from '../frame/display-text.tsx';
import { clearQueries, type Explorer, listQueries } from './query-history.ts';

const label = 'Query history';
const maxShownLength = 300;

export const QueryHistoryMenu = ({ explorer }: { readonly explorer: Explorer }) => {
  const queries = listQueries(explorer);
  if (queries.length === 0) return <IconButton label="No queries in the history yet" icon={History} disabled={true} />;
  return (
    <Menu
      label={label}
      icon={History}
      kind="quiet"
      items={[
        ...queries.map(({ title, parameters }) => ({
          title: <code class="past-query">{renderText(title.slice(0, maxShownLength))}</code>,
          onSelect: () => setParams(parameters),
        })),
        { title: 'Clear history', onSelect: () => clearQueries(explorer) },
      ]}
    />
  );
};
