/** Folders and tags of the matching dashboards, with counts. A click filters by the value. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { listDashboardsCall, type Summaries } from './calls.ts';

type Values = NonNullable<Summaries['facets']>['tags'];

/** Number of values displayed before all are requested */
const maxValues = 20;
const number = new Intl.NumberFormat('en');

interface FacetProps {
  readonly title: string;
  readonly name: 'folder' | 'tag';
  readonly values: Values;
}

const Facet = ({ title, name, values: { values, partial } }: FacetProps) => {
  const [isExpanded, setOpen] = useState(false);
  const selectedValue = inAddress(name);
  const visibleValues = isExpanded ? values : values.slice(0, maxValues);
  return (
    <details open class="facet">
      <summary>
        {title} <span class="soft">{`${number.format(values.length)}${partial ? ' and more' : ''}`}</span>
      </summary>
      <ul>
        {visibleValues.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              class="value"
              aria-pressed={value === selectedValue}
              title={`Show only dashboards ${name === 'tag' ? 'with this tag' : 'in this folder and below'}`}
              onClick={() => change({ [name]: value === selectedValue ? '' : value })}
            >
              <bdi>{shownText(value)}</bdi>
            </button>
            <span class="count">{number.format(count)}</span>
          </li>
        ))}
      </ul>
      {values.length === 0 ? <p class="soft">No values</p> : null}
      {visibleValues.length < values.length ? (
        <button type="button" class="mini" onClick={() => setOpen(true)}>
          {`Show ${number.format(values.length - visibleValues.length)} others`}
        </button>
      ) : null}
    </details>
  );
};

/** Requested separately, so that the list need not wait for the counts. */
export const DashboardFacets = () => {
  const [facetsQuery] = useState(() => new ApiQuery(listDashboardsCall));
  const [search, tag, folder] = [inAddress('search'), inAddress('tag'), inAddress('folder')];
  useEffect(() => {
    facetsQuery.run({ query: { search, tag, folder, facets: 'true', limit: 1 } });
    return () => facetsQuery.cancel();
  }, [search, tag, folder, refreshes.value]);
  const { answer, error } = facetsQuery.state.value;
  const facets = answer?.facets ?? undefined;
  return (
    <Scrolled class="facets" label="Folders and tags">
      {facets === undefined ? null : (
        <>
          <Facet title="Folders" name="folder" values={facets.folders} />
          <Facet title="Tags" name="tag" values={facets.tags} />
        </>
      )}
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
    </Scrolled>
  );
};
