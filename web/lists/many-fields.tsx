/** Name-value list for up to thousands of fields */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export type Field = readonly [name: string, value: unknown];

/** Number of fields displayed at once */
const maxShown = 200;

const number = new Intl.NumberFormat('en');

/** Omits empty fields; with many fields, a filter finds some by a part of their name. */
export const ManyFields = ({
  of: all,
  class: name,
  children: shown,
}: {
  readonly of: readonly Field[];
  readonly class: string;
  readonly children: (field: Field) => ComponentChildren;
}) => {
  const [part, setPart] = useState('');
  const fields = all.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const found = fields.filter(([field]) => field.toLowerCase().includes(part.toLowerCase()));
  return (
    <>
      {fields.length > 20 ? (
        <input
          type="search"
          placeholder="Search by name"
          aria-label="Search fields by name"
          value={part}
          onInput={({ currentTarget }) => setPart(currentTarget.value)}
        />
      ) : null}
      <dl class={name}>
        {found.slice(0, maxShown).map((field) => (
          <div key={field[0]}>{shown(field)}</div>
        ))}
      </dl>
      {found.length > maxShown ? (
        <p class="soft">{number.format(found.length - maxShown)} more: search by name to find them.</p>
      ) : null}
    </>
  );
};
