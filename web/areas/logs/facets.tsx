/** Most frequent values of fields, with counts. A click includes or excludes a value. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { markedText, shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { valuesCall } from './calls.ts';
import { addCondition, changeSearch, facets, logQuery, search, setFacets } from './log-search.ts';

const maxFacetValues = 10;
const number = new Intl.NumberFormat('en');

const Facet = ({ name }: { readonly name: string }) => {
  const [valuesQuery] = useState(() => new ApiQuery(valuesCall));
  const { from, to } = writtenRange.value;
  useEffect(() => {
    valuesQuery.run({ params: { name }, query: { ...logQuery(), limit: maxFacetValues } });
    return () => valuesQuery.cancel();
  }, [name, from, to, search.value, projectScope.value, refreshes.value]);
  const { answer, error, isLoading } = valuesQuery.state.value;
  const filter = (value: string, isExcluded: boolean) => (): void =>
    changeSearch(addCondition(search.peek(), name, value, { isExcluded }));
  return (
    <details open class={isLoading ? 'facet old' : 'facet'}>
      <summary>
        <bdi>{shownText(name)}</bdi>
        {answer === undefined ? null : <span class="soft"> {number.format(answer.distinct)}</span>}
      </summary>
      <Problem error={error?.of('search') === undefined ? error : undefined} />
      <ul>
        {answer?.items.map(({ value, records, share, isCut }) => (
          <li key={value} style={{ backgroundSize: `${Math.round(share * 100)}% 100%` }}>
            <button
              type="button"
              class="value"
              disabled={isCut}
              title={isCut ? 'This value is too long to search for' : 'Show only records with this value'}
              onClick={filter(value, false)}
            >
              <bdi>{value === '' ? '(empty)' : shownText(value.slice(0, 200))}</bdi>
            </button>
            <span class="count">{number.format(records)}</span>
            <button
              type="button"
              class="mini"
              disabled={isCut}
              aria-label={`Exclude ${markedText(value.slice(0, 200))}`}
              onClick={filter(value, true)}
            >
              −
            </button>
          </li>
        ))}
      </ul>
      {answer !== undefined && answer.items.length === 0 ? <p class="soft">No values</p> : null}
      {answer !== undefined && answer.distinct > answer.items.length ? (
        <p class="soft">and {number.format(answer.distinct - answer.items.length)} other values</p>
      ) : null}
      <button
        type="button"
        class="mini"
        aria-label={`Close ${markedText(name)}`}
        onClick={() => setFacets(facets.peek().filter((each) => each !== name))}
      >
        Close
      </button>
    </details>
  );
};

export const Facets = () => {
  const names = facets.value;
  return (
    <Scrolled class="facets" label="Facets">
      {names.map((name) => (
        <Facet key={name} name={name} />
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get('field')).trim();
          event.currentTarget.reset();
          if (name !== '') setFacets([...facets.peek(), name]);
        }}
      >
        <input name="field" list="log-fields" placeholder="field name" aria-label="Add facet" autocomplete="off" />
        <button type="submit" class="plain">
          Add
        </button>
      </form>
    </Scrolled>
  );
};
