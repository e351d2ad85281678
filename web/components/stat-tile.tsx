/** A number with its unit, its trend, and the change against the previous period. */
import { ArrowDown, ArrowUp } from 'lucide';
import type { ComponentChildren } from 'preact';
import { formatChange } from './change.ts';
import { Icon } from './icon.tsx';
import { Sparkline } from './sparkline.tsx';

/** Changes below this share count as none */
const minChange = 0.005;

const Change = ({ change, isWorse }: { readonly change: number; readonly isWorse: 'up' | 'down' | 'neither' }) => {
  if (Math.abs(change) < minChange) return <span class="change">no change</span>;
  const direction = change > 0 ? 'up' : 'down';
  const tone = isWorse === 'neither' ? '' : direction === isWorse ? ' worse' : ' better';
  return (
    <span class={`change${tone}`}>
      <Icon shape={change > 0 ? ArrowUp : ArrowDown} size={12} />
      {formatChange(change)}
      {tone === '' ? null : <span class="sr-only">,{tone} than</span>}
    </span>
  );
};

export interface StatTileProps {
  readonly title: string;
  /** Formatted value with its unit */
  readonly value: ComponentChildren;
  /** Relative change against the previous period */
  readonly change?: number | undefined;
  /** Text instead of a change */
  readonly note?: ComponentChildren;
  /** Direction of a change for the worse */
  readonly isWorse?: 'up' | 'down' | 'neither';
  /** Values of the sparkline; without it, the tile has none */
  readonly trend?: readonly (number | undefined)[];
  /** Address with details */
  readonly url?: string;
}

export const StatTile = ({ title, value, change, note, isWorse = 'neither', trend, url }: StatTileProps) => {
  const content = (
    <>
      <span class="tile-title">{title}</span>
      <span class="tile-line">
        <strong>{value}</strong>
        <span class="tile-change">
          {change === undefined ? (
            <span class="change">{note}</span>
          ) : (
            <>
              <Change change={change} isWorse={isWorse} />
              {Math.abs(change) < minChange ? null : <span class="change">vs. previous</span>}
            </>
          )}
        </span>
      </span>
      {trend === undefined ? null : (
        <span class="tile-trend">
          <Sparkline values={trend} />
        </span>
      )}
    </>
  );
  return url === undefined ? (
    <div class="card tile">{content}</div>
  ) : (
    <a class="card tile" href={url} data-page-link>
      {content}
    </a>
  );
};

/** A title, and the other properties of its tile from a response */
export type TileDefinition<Response> = readonly [
  title: string,
  toProps: (response: Response) => Omit<StatTileProps, 'title'>,
];

/** Row of tiles, which have their size while the response loads */
export const StatTiles = <Response,>({
  tiles,
  response,
}: {
  readonly tiles: readonly TileDefinition<Response>[];
  readonly response: Response | undefined;
}) => (
  <div class="columns tiles">
    {tiles.map(([title, toProps]) => (
      <StatTile
        key={title}
        title={title}
        {...(response === undefined ? { value: '–', note: 'Loading…' } : toProps(response))}
      />
    ))}
  </div>
);
