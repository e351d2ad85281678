/** A JSON value as a tree; large parts open step by step */
import { useState } from 'preact/hooks';
import { shownText } from '../frame/shown-text.tsx';
import { Long } from './long-text.tsx';

/** Number of parts displayed at once */
const step = 100;
/** Maximum number of descendants of initially open parts */
const maxOpenBelow = 400;

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Returns the object or list of a JSON text; `undefined` for other texts, and for texts that are too long to parse at
 * once.
 */
export const treeOf = (value: unknown): object | undefined => {
  if (isTree(value)) return value;
  if (typeof value !== 'string' || value.length > 1_000_000 || !/^\s*[{[]/.test(value)) return undefined;
  try {
    const read: unknown = JSON.parse(value);
    return isTree(read) ? read : undefined;
  } catch {
    return undefined;
  }
};

const Leaf = ({ value }: { readonly value: unknown }) => (
  <span class={`json-${value === null ? 'null' : typeof value}`}>
    <Long text={typeof value === 'string' ? JSON.stringify(value) : String(value)} />
  </span>
);

/** Returns a short description of a part's size. */
const sizeOf = (value: object): string =>
  Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;

const Parts = ({ of, depth }: { readonly of: object; readonly depth: number }) => {
  const [shown, setShown] = useState(step);
  const parts = Object.entries(of);
  const below = parts
    .slice(0, step)
    .reduce((sum, [, value]) => sum + (isTree(value) ? Object.keys(value).length : 0), 0);
  return (
    <ul class="json">
      {parts.slice(0, shown).map(([name, value]) => (
        <li key={name}>
          {isTree(value) ? (
            <Branch name={name} value={value} depth={depth} opens={depth < 1 && below <= maxOpenBelow} />
          ) : (
            <Named name={name} value={value} />
          )}
        </li>
      ))}
      {parts.length > shown ? (
        <li>
          <button type="button" class="mini" onClick={() => setShown(shown + step)}>
            {parts.length - shown} more
          </button>
        </li>
      ) : null}
    </ul>
  );
};

const Named = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <>
    <span class="soft">{shownText(name)}:</span> <Leaf value={value} />
  </>
);

const Branch = ({
  name,
  value,
  depth,
  opens,
}: {
  readonly name: string;
  readonly value: object;
  readonly depth: number;
  /** Whether it is initially open */
  readonly opens: boolean;
}) => {
  const [isOpen, setOpen] = useState(opens);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {shownText(name)} <span class="soft">{sizeOf(value)}</span>
      </summary>
      {isOpen ? <Parts of={value} depth={depth + 1} /> : null}
    </details>
  );
};

export const JsonTree = ({ of }: { readonly of: object }) => <Parts of={of} depth={0} />;
