/** JSON value as a tree; large objects and lists are displayed page by page */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { renderText } from '../frame/display-text.tsx';
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

/** Returns actions for a value. The path has the keys of objects: the items of an array have the path of the array. */
export type RenderLeafActions = (path: readonly string[], value: unknown) => ComponentChildren;

const Leaf = ({ value }: { readonly value: unknown }) => (
  <span class={`json-${value === null ? 'null' : typeof value}`}>
    <LongText text={typeof value === 'string' ? JSON.stringify(value) : String(value)} />
  </span>
);

/** Formats the size of a list as `[3]`, and that of an object as `{3}`. */
const formatSize = (value: object): string =>
  Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;

const TreeItems = ({
  tree,
  path,
  depth,
  renderActions,
}: {
  readonly tree: object;
  readonly path: readonly string[];
  readonly depth: number;
  readonly renderActions: RenderLeafActions | undefined;
}) => {
  const [shownCount, setShownCount] = useState(pageSize);
  const entries = Object.entries(tree);
  const descendantCount = entries
    .slice(0, pageSize)
    .reduce((sum, [, value]) => sum + (isTree(value) ? Object.keys(value).length : 0), 0);
  return (
    <ul class="json">
      {entries.slice(0, shownCount).map(([name, value]) => {
        const childPath = Array.isArray(tree) ? path : [...path, name];
        return (
          <li key={name}>
            {isTree(value) ? (
              <Branch
                name={name}
                value={value}
                path={childPath}
                depth={depth}
                isInitiallyOpen={depth < 1 && descendantCount <= maxInitialDescendants}
                renderActions={renderActions}
              />
            ) : (
              <>
                <span class="soft">{renderText(name)}:</span> <Leaf value={value} />
                {renderActions?.(childPath, value)}
              </>
            )}
          </li>
        );
      })}
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

const Branch = ({
  name,
  value,
  path,
  depth,
  isInitiallyOpen,
  renderActions,
}: {
  readonly name: string;
  readonly value: object;
  readonly path: readonly string[];
  readonly depth: number;
  readonly renderActions: RenderLeafActions | undefined;
  /** Whether the branch is initially open */
  readonly isInitiallyOpen: boolean;
}) => {
  const [isOpen, setIsOpen] = useState(isInitiallyOpen);
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {renderText(name)} <span class="soft">{formatSize(value)}</span>
      </summary>
      {isOpen ? <TreeItems tree={value} path={path} depth={depth + 1} renderActions={renderActions} /> : null}
    </details>
  );
};

export const JsonTree = ({
  tree,
  renderActions,
}: {
  readonly tree: object;
  readonly renderActions?: RenderLeafActions;
}) => <TreeItems tree={tree} path={[]} depth={0} renderActions={renderActions} />;
