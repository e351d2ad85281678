/** Settings of panels that list alerts or dashboards, in the editor */
import type { Visual } from '../calls.ts';

type ListVisual = Extract<Visual, { kind: 'alerts' | 'dashboards' }>;

/** Text settings of each kind: field, label and example */
const textSettings = {
  alerts: [
    ['search', 'Rule name contains', ''],
    ['labels', 'Labels', '{team="core"}'],
  ],
  dashboards: [
    ['search', 'Name contains', ''],
    ['folder', 'Folder', 'Platform/Kafka'],
  ],
} as const;

export const ListFields = ({
  visual,
  onChange,
}: {
  readonly visual: ListVisual;
  readonly onChange: (visual: ListVisual) => void;
}) => {
  // A draft may omit fields, because the API adds their defaults.
  const settings = visual as Readonly<Partial<Record<string, unknown>>>;
  return (
    <>
      {textSettings[visual.kind].map(([field, label, placeholder]) => (
        <label key={`${visual.kind} ${field}`}>
          {label}{' '}
          <input
            value={String(settings[field] ?? '')}
            placeholder={placeholder}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => onChange({ ...visual, [field]: currentTarget.value })}
          />
        </label>
      ))}
      {visual.kind === 'alerts' ? (
        <label>
          Show as{' '}
          <select
            value={visual.shows ?? 'list'}
            onChange={({ currentTarget }) =>
              onChange({ ...visual, shows: currentTarget.value === 'count' ? 'count' : 'list' })
            }
          >
            <option value="list">list</option>
            <option value="count">count</option>
          </select>
        </label>
      ) : null}
    </>
  );
};
