/** List of names and values, for up to thousands of fields */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export type Field = readonly [name: string, value: unknown];

/** Number of fields displayed at once */
const maxFields = 200;

const number = new Intl.NumberFormat('en');

/** Omits empty fields. Above 20 fields, a search input filters them by name. */
export const ManyFields = ({
  fields: allFields,
  class: name,
  children: renderField,
}: {
  readonly fields: readonly Field[];
  readonly class: string;
  readonly children: (field: Field) => ComponentChildren;
}) => {
  const [filter, setFilter] = useState('');
  const fields = allFields.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const matchingFields = fields.filter(([field]) => field.toLowerCase().includes(filter.toLowerCase()));
  return (
    <>
      {fields.length > 20 ? (
        <input
          type="search"
          placeholder="Search by name"
          aria-label="Search fields by name"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      ) : null}
      <dl class={name}>
        {matchingFields.slice(0, maxFields).map((field) => (
          <div key={field[0]}>{renderField(field)}</div>
        ))}
      </dl>
      {matchingFields.length > maxFields ? (
        <p class="soft">{number.format(matchingFields.length - maxFields)} more: search by name to find them.</p>
      ) : null}
    </>
  );
};
