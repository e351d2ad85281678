/** Toolbar of records: order, columns, wrapping, export, saved query, rule */
import { useEffect, useState } from 'preact/hooks';
import { addQuery } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { timeRange } from '../../frame/time-range.ts';
import { fieldsCall } from '../../search/suggest-log-fields.ts';
import { createSavedQueryCall } from './calls.ts';
import {
  columns,
  formatNames,
  getLogQuery,
  groupBy,
  isWrapped,
  order,
  patternId,
  setColumns,
  view,
} from './log-search.ts';
import { SaveQuery, SearchLinks } from './save-query.tsx';

const fieldNamesQuery = new ApiQuery(fieldsCall);
const maxFieldNames = 300;

/** Field names that inputs of the logs area suggest. */
export const FieldNames = () => {
  const { from, to } = timeRange.value;
  useEffect(() => {
    fieldNamesQuery.run({ query: { from, to, ...projectScope.value, limit: maxFieldNames } });
    return () => fieldNamesQuery.cancel();
  }, [from, to, projectScope.value]);
  return (
    <datalist id="log-fields">
      {fieldNamesQuery.state.value.response?.items.map(({ name, kind }) => (
        <option key={`${kind} ${name}`} value={name} />
      ))}
    </datalist>
  );
};

const GroupByInput = () => (
  <label>
    Group by{' '}
    <input
      key={groupBy.value}
      list="log-fields"
      class="field-name"
      defaultValue={groupBy.value}
      autocomplete="off"
      spellcheck={false}
      onChange={({ currentTarget }) => {
        const fieldName = currentTarget.value.trim();
        setParams({ by: fieldName === 'severity' ? '' : fieldName });
      }}
    />
  </label>
);

const ColumnEditor = () => {
  const [typedName, setTypedName] = useState('');
  return (
    <form
      class="toolbar"
      onSubmit={(event) => {
        event.preventDefault();
        if (typedName.trim() !== '') setColumns([...columns.peek(), typedName.trim()]);
        setTypedName('');
      }}
    >
      <label>
        Add column{' '}
        <input
          list="log-fields"
          class="field-name"
          value={typedName}
          placeholder="http.route"
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setTypedName(currentTarget.value)}
        />
      </label>
      {columns.value.map((name) => (
        <button
          key={name}
          type="button"
          class="plain"
          aria-label={`Remove column ${markHiddenCharacters(name)}`}
          onClick={() => setColumns(columns.peek().filter((columnName) => columnName !== name))}
        >
          {renderText(name)} ×
        </button>
      ))}
    </form>
  );
};

/** Returns the URL of an export of the matching records. */
const buildExportUrl = (format: 'csv' | 'ndjson'): string => {
  const fields = columns.value.length === 0 ? '' : `timestamp,severity,service,${formatNames(columns.value)},body`;
  return addQuery('/api/logs/export', { ...getLogQuery(), order: order.value, format, fields });
};

const Menu = ({ title, children }: { readonly title: string; readonly children: preact.ComponentChildren }) => (
  <details class="menu">
    <summary>{title}</summary>
    <div class="popup">{children}</div>
  </details>
);

export const Toolbar = () => (
  <div class="toolbar">
    {view.value === 'live' ? null : (
      <>
        {patternId.value === '' ? <GroupByInput /> : null}
        <label>
          Order{' '}
          <select value={order.value} onChange={({ currentTarget }) => setParams({ order: currentTarget.value })}>
            <option value="newest">newest first</option>
            <option value="oldest">oldest first</option>
          </select>
        </label>
      </>
    )}
    <label>
      <input
        type="checkbox"
        checked={isWrapped.value}
        onChange={({ currentTarget }) => setParams({ wrap: currentTarget.checked ? 'on' : '' }, { replace: true })}
      />{' '}
      Wrap
    </label>
    <ColumnEditor />
    {view.value === 'live' ? null : (
      <Menu title="Export">
        <a href={buildExportUrl('csv')} download>
          CSV
        </a>
        <a href={buildExportUrl('ndjson')} download>
          JSON Lines
        </a>
      </Menu>
    )}
    {isPermitted(createSavedQueryCall) ? (
      <Menu title="Save">
        <SaveQuery />
      </Menu>
    ) : null}
    <SearchLinks />
  </div>
);
