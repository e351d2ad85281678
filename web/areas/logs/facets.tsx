/** Most frequent values of fields, with counts, and all fields. A click includes or excludes a value. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { projectScope } from '../../frame/project.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { fieldsCall, fieldValuesCall } from '../../search/suggest-log-fields.ts';
import { addCondition, changeSearch, facets, getLogQuery, search, setFacets } from './log-search.ts';

const maxFacetValues = 10;
const maxFields = 100;
const numberFormat = new Intl.NumberFormat('en');

const Facet = ({ name }: { readonly name: string }) => {
  const [valuesQuery] = useState(() => new ApiQuery(fieldValuesCall));
  const { from, to } = timeRange.value;
  useEffect(() => {
    valuesQuery.run({ params: { name }, query: { ...getLogQuery(), limit: maxFacetValues } });
    return () => valuesQuery.cancel();
  }, [name, from, to, search.value, projectScope.value, refreshCount.value]);
  const { response, error, isLoading } = valuesQuery.state.value;
  const createFilterHandler = (value: string, isExcluded: boolean) => (): void =>
    changeSearch(addCondition(search.peek(), name, value, { isExcluded }));
  return (
    <details open class={isLoading ? 'facet old' : 'facet'}>
      <summary>
        <bdi>{renderText(name)}</bdi>
        {response === undefined ? null : <span class="soft"> {numberFormat.format(response.distinct)}</span>}
      </summary>
      <ErrorMessage error={error?.of('search') === undefined ? error : undefined} />
      <ul>
        {response?.items.map(({ value, records, share, isTruncated }) => (
          <li key={value} style={{ backgroundSize: `${Math.round(share * 100)}% 100%` }}>
            <button
              type="button"
              class="value"
              disabled={isTruncated}
              title={isTruncated ? 'This value is too long to search for' : 'Show only records with this value'}
              onClick={createFilterHandler(value, false)}
            >
              <bdi>{value === '' ? '(empty)' : renderText(value.slice(0, 200))}</bdi>
            </button>
            <span class="count">{numberFormat.format(records)}</span>
            <button
              type="button"
              class="mini"
              disabled={isTruncated}
              aria-label={`Exclude ${markHiddenCharacters(value.slice(0, 200))}`}
              onClick={createFilterHandler(value, true)}
            >
              −
            </button>
          </li>
        ))}
      </ul>
      {response !== undefined && response.items.length === 0 ? <p class="soft">No values</p> : null}
      {response !== undefined && response.distinct > response.items.length ? (
        <p class="soft">and {numberFormat.format(response.distinct - response.items.length)} other values</p>
      ) : null}
      <button
        type="button"
        class="mini"
        aria-label={`Close ${markHiddenCharacters(name)}`}
        onClick={() => setFacets(facets.peek().filter((facetName) => facetName !== name))}
      >
        Close
      </button>
    </details>
  );
};

/** All fields of the range with their record counts; a click shows the values of a field as a facet, or hides them. */
const FieldBrowser = () => {
  const [filter, setFilter] = useState('');
  const { response, error } = useQuery(fieldsCall, {
    query: { ...timeRange.value, ...projectScope.value, contains: filter.trim() || undefined, limit: maxFields },
  });
  return (
    <section class="field-browser" aria-label="Fields">
      <h2>Fields</h2>
      <input
        type="search"
        placeholder="Search fields"
        aria-label="Search fields"
        maxLength={512}
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <ErrorMessage error={error} />
      <ul>
        {response?.items.map(({ name, kind, records }) => {
          const isShown = facets.value.includes(name);
          return (
            <li key={`${kind} ${name}`}>
              <button
                type="button"
                class="value"
                aria-pressed={isShown}
                title={isShown ? 'Hide the values of this field' : 'Show the values of this field'}
                onClick={() =>
                  setFacets(
                    isShown ? facets.peek().filter((facetName) => facetName !== name) : [...facets.peek(), name],
                  )
                }
              >
                <bdi>{renderText(name)}</bdi>
              </button>
              <span class="count">{numberFormat.format(records)}</span>
            </li>
          );
        })}
      </ul>
      {response?.items.length === 0 ? <p class="soft">No fields</p> : null}
      {response?.items.length === maxFields ? <p class="soft">Search by name to find more.</p> : null}
    </section>
  );
};

export const Facets = () => {
  const facetNames = facets.value;
  return (
    <ScrollRegion class="facets" label="Facets">
      {facetNames.map((name) => (
        <Facet key={name} name={name} />
      ))}
      <FieldBrowser />
    </ScrollRegion>
  );
};
