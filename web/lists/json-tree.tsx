/** JSON value as a tree; large objects and lists are displayed page by page */
import { useState } from 'preact/hooks';
import { renderText } from '../frame/shown-text.tsx';
import { LongText } from './long-text.tsx';

/** Number of entries displayed at once */
const pageSize = 100;
/** Maximum number of descendants up to which branches are initially open */
const maxInitialDescendants = 400;

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * Returns an object or list, parsed if it is JSON text; `undefined` for other values, and for texts that are too long
 * to parse.
 */
export const parseTree = (value: unknown): object | undefined => {
  if (isTree(value)) return value;
  if (typeof value !== 'string' || value.length > 1_000_000 || !/^\s*[{[]/.test(value)) return undefined;
  try {
    const parsedValue: unknown = JSON.parse(value);
    return isTree(parsedValue) ? parsedValue : undefined;
  } catch {
    return undefined;
  }
};

const Leaf = ({ value }: { readonly value: unknown }) => (
  <span class={`json-${value === null ? 'null' : typeof value}`}>
    <LongText text={typeof value === 'string' ? JSON.stringify(value) : String(value)} />
  </span>
);

/** Formats the size of a list as `[3]`, and that of an object as `{3}`. */
const formatSize = (value: object): string =>
  Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;

const TreeItems = ({ tree, depth }: { readonly tree: object; readonly depth: number }) => {
  const [shownCount, setShownCount] = useState(pageSize);
  const entries = Object.entries(tree);
  const descendantCount = entries
    .slice(0, pageSize)
    .reduce((sum, [, value]) => sum + (isTree(value) ? Object.keys(value).length : 0), 0);
  return (
    <ul class="json">
      {entries.slice(0, shownCount).map(([name, value]) => (
        <li key={name}>
          {isTree(value) ? (
            <Branch
              name={name}
              value={value}
              depth={depth}
              isInitiallyOpen={depth < 1 && descendantCount <= maxInitialDescendants}
            />
          ) : (
            <NamedLeaf name={name} value={value} />
          )}
        </li>
      ))}
      {entries.length > shownCount ? (
        <li>
          <button type="button" class="mini" onClick={() => setShownCount(shownCount + pageSize)}>
            {entries.length - shownCount} more
          </button>
        </li>
      ) : null}
    </ul>
  );
};

const NamedLeaf = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <>
    <span class="soft">{renderText(name)}:</span> <Leaf value={value} />
  </>
);

const Branch = ({
  name,
  value,
  depth,
  isInitiallyOpen,
}: {
  readonly name: string;
  readonly value: object;
  readonly depth: number;
  /** Whether the branch is initially open */
  readonly isInitiallyOpen: boolean;
}) => {
  const [isOpen, setIsOpen] = useState(isInitiallyOpen);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {renderText(name)} <span class="soft">{formatSize(value)}</span>
      </summary>
      {isOpen ? <TreeItems tree={value} depth={depth + 1} /> : null}
    </details>
  );
};

export const JsonTree = ({ tree }: { readonly tree: object }) => <TreeItems tree={tree} depth={0} />;
