/** Folders and tags of the matching dashboards, with counts. A click filters by the value. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { refreshCount } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { type DashboardList, listDashboardsCall } from './calls.ts';

type FacetValues = NonNullable<DashboardList['facets']>['tags'];

/** Number of values displayed before the list is expanded */
const maxCollapsedValues = 20;
const numberFormat = new Intl.NumberFormat('en');

interface FacetProps {
  readonly title: string;
  readonly name: 'folder' | 'tag';
  readonly values: FacetValues;
}

const Facet = ({ title, name, values: { values, partial } }: FacetProps) => {
  const [isExpanded, setIsExpanded] = useState(false);
  const selectedValue = readParam(name);
  const visibleValues = isExpanded ? values : values.slice(0, maxCollapsedValues);
  return (
    <details open class="facet">
      <summary>
        {title} <span class="soft">{`${numberFormat.format(values.length)}${partial ? ' and more' : ''}`}</span>
      </summary>
      <ul>
        {visibleValues.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              class="value"
              aria-pressed={value === selectedValue}
              title={`Show only dashboards ${name === 'tag' ? 'with this tag' : 'in this folder and below'}`}
              onClick={() => setParams({ [name]: value === selectedValue ? '' : value })}
            >
              <bdi>{renderText(value)}</bdi>
            </button>
            <span class="count">{numberFormat.format(count)}</span>
          </li>
        ))}
      </ul>
      {values.length === 0 ? <p class="soft">No values</p> : null}
      {visibleValues.length < values.length ? (
        <button type="button" class="mini" onClick={() => setIsExpanded(true)}>
          {`Show ${numberFormat.format(values.length - visibleValues.length)} more`}
        </button>
      ) : null}
    </details>
  );
};

/** Facets are requested separately, so that the list does not wait for the counts. */
export const DashboardFacets = () => {
  const [facetsQuery] = useState(() => new ApiQuery(listDashboardsCall));
  const [search, tag, folder] = [readParam('search'), readParam('tag'), readParam('folder')];
  useEffect(() => {
    facetsQuery.run({ query: { search, tag, folder, facets: 'true', limit: 1 } });
    return () => facetsQuery.cancel();
  }, [search, tag, folder, refreshCount.value]);
  const { response, error } = facetsQuery.state.value;
  const facets = response?.facets ?? undefined;
  return (
    <ScrollRegion class="facets" label="Folders and tags">
      {facets === undefined ? null : (
        <>
          <Facet title="Folders" name="folder" values={facets.folders} />
          <Facet title="Tags" name="tag" values={facets.tags} />
        </>
      )}
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
    </ScrollRegion>
  );
};
