/** Positions of panels: rows and grids of the classic form, and the layouts of the resource. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { toCurrentPanel } from './old-panels.ts';
import { convertElement } from './resource.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A panel with its position. */
export interface PlacedPanel {
  /** In the current classic form. */
  readonly panel: Fields;
  /** The counted source, and its path. */
  readonly source: Fields;
  readonly path: string;
  /** Source whose paths identify stored fields: the original, except for a resource. */
  readonly preservedSource: Fields;
  readonly section: string | null;
  readonly box: Box;
  readonly repeat?: Repeat | undefined;
}

export interface Repeat {
  readonly variable: string;
  readonly direction?: 'across' | 'down' | undefined;
  readonly perRow?: number | undefined;
}

export interface PlacedSection {
  readonly id: string;
  readonly title: string;
  readonly kind: 'row' | 'tab';
  readonly within: string | null;
  readonly folded: boolean;
  readonly repeat: string | undefined;
}

export interface Layout {
  readonly sections: readonly PlacedSection[];
  readonly panels: readonly PlacedPanel[];
}

const columns = 24;
const boundedInteger = (value: unknown, fallback: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, Math.round(Number.isFinite(value) ? (value as number) : fallback)));

const readBox = (grid: Fields, keys: readonly [x: string, y: string, width: string, height: string]): Box => {
  const [x, y, width, height] = keys.map((key) => grid[key]);
  const left = boundedInteger(x, 0, 0, columns - 1);
  return {
    x: left,
    y: boundedInteger(y, 0, -100_000, 100_000),
    width: boundedInteger(width, 12, 1, columns - left),
    height: boundedInteger(height, 8, 1, 1000),
  };
};

/** Marks unchanged box fields as converted. */
const carryBox = (grid: Fields, keys: readonly string[], box: Box, ledger: Ledger): void => {
  for (const [index, value] of [box.x, undefined, box.width, box.height].entries()) {
    const key = keys[index] ?? '';
    if (value === undefined || grid[key] === value) ledger.carry(grid, key);
    else ledger.drop(grid, key, 'exceeds the edge of the grid and is cut there');
  }
};

const isVariableName = (value: unknown): value is string => typeof value === 'string' && /^(?!__)\w{1,64}$/.test(value);

/** Reads the repeat option of a classic panel. */
const readClassicRepeat = (panel: Fields, ledger: Ledger): Repeat | undefined => {
  const { repeat, repeatDirection, maxPerRow } = panel;
  if (!isVariableName(repeat)) {
    for (const key of ['repeatDirection', 'maxPerRow'])
      ledger.drop(panel, key, 'has no effect on a panel that is not repeated');
    return undefined;
  }
  ledger.carry(panel, 'repeat');
  const direction = repeatDirection === 'v' ? 'down' : repeatDirection === 'h' ? 'across' : undefined;
  if (direction !== undefined) ledger.carry(panel, 'repeatDirection');
  const perRow = boundedInteger(maxPerRow, 4, 1, columns);
  if (perRow === maxPerRow) ledger.carry(panel, 'maxPerRow');
  return { variable: repeat, direction, perRow };
};

/** Makes positions relative to the top of their section. */
const alignToSection = (panels: readonly PlacedPanel[]): PlacedPanel[] => {
  const tops = new Map<string | null, number>();
  for (const { section, box } of panels) tops.set(section, Math.min(tops.get(section) ?? Infinity, box.y));
  return panels.map((panel) => ({ ...panel, box: { ...panel.box, y: panel.box.y - (tops.get(panel.section) ?? 0) } }));
};

const gridKeys = ['x', 'y', 'w', 'h'] as const;

/** Returns whether a panel is a copy that Grafana created of a repeated panel. */
const isCopy = (panel: Fields): boolean =>
  (panel['repeatPanelId'] !== undefined && panel['repeatPanelId'] !== null && panel['repeat'] === undefined) ||
  (isFields(panel['scopedVars']) && panel['repeatPanelId'] !== undefined && panel['repeatPanelId'] !== null);

class ClassicLayout {
  readonly sections: PlacedSection[] = [];
  readonly panels: PlacedPanel[] = [];
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Adds a row, which contains the following panels. */
  addRow(addRow: Fields, folded: boolean): string {
    const id = `row-${this.sections.length + 1}`;
    const { title, repeat } = addRow;
    const repeatVariable = isVariableName(repeat) ? repeat : undefined;
    this.#ledger.carry(
      addRow,
      'type',
      'collapsed',
      'collapse',
      'title',
      ...(repeatVariable === undefined ? [] : ['repeat']),
    );
    for (const key of ['id', 'datasource', 'titleSize', 'height', 'repeatIteration', 'repeatRowId'])
      if (addRow[key] !== null) this.#ledger.drop(addRow, key, 'is not used by rows here');
    const grid = addRow['gridPos'];
    // The position is not needed, because rows are in order.
    if (isFields(grid)) this.#ledger.carry(grid, ...gridKeys);
    for (const key of ['panels', 'targets', 'repeatIteration', 'repeatRowId', 'repeat', 'links'])
      if (addRow[key] === null || (Array.isArray(addRow[key]) && addRow[key].length === 0))
        this.#ledger.markDefault(addRow, key);
    this.sections.push({
      id,
      kind: 'row',
      within: null,
      folded,
      repeat: repeatVariable,
      title: typeof title === 'string' ? title.slice(0, 512) : '',
    });
    return id;
  }

  addPanel(source: Fields, path: string, section: string | null, box?: Box): void {
    const ledger = this.#ledger;
    if (isCopy(source)) {
      this.#dropAll(source);
      return;
    }
    const panel = toCurrentPanel(source, ledger);
    const grid = source['gridPos'];
    const panelBox = box ?? readBox(isFields(grid) ? grid : {}, gridKeys);
    if (isFields(grid)) carryBox(grid, gridKeys, panelBox, ledger);
    this.panels.push({
      panel,
      source,
      path,
      preservedSource: source,
      section,
      box: panelBox,
      repeat: readClassicRepeat(source, ledger),
    });
  }

  /** Returns the end of the last panel in a section. */
  getBottom(section: string | null): number {
    const ends = this.panels.filter((panel) => panel.section === section).map(({ box }) => box.y + box.height);
    return Math.max(0, ...ends);
  }

  #dropAll(source: Fields): void {
    for (const key of Object.keys(source))
      this.#ledger.drop(source, key, 'is a copy of a repeated panel, created by Grafana');
  }
}

/** Positions panels from left to right, in rows. */
class RowFiller {
  #x = 0;
  #y: number;
  #rowHeight = 0;

  constructor(top: number) {
    this.#y = top;
  }

  placeNext(width: number, height: number): Box {
    if (this.#x + width > columns) {
      this.#y += this.#rowHeight;
      this.#x = 0;
      this.#rowHeight = 0;
    }
    const box = { x: this.#x, y: this.#y, width, height };
    this.#x += width;
    this.#rowHeight = Math.max(this.#rowHeight, height);
    return box;
  }
}

const isExpanded = ({ collapse, collapsed }: Fields): boolean => collapse !== true && collapsed !== true;
const isRowCopy = ({ repeatRowId, repeat }: Fields): boolean =>
  repeatRowId !== undefined && repeatRowId !== null && !isVariableName(repeat);

/** Old rows: panels are side by side, with a share of twelve columns. */
const convertLegacyRows = (dashboard: Fields, path: string, layout: ClassicLayout, ledger: Ledger): void => {
  const rows = toFieldsList(dashboard['rows']);
  const hasVisibleRows = rows.some(
    (row) => !isExpanded(row) || row['showTitle'] === true || isVariableName(row['repeat']),
  );
  for (const [index, row] of rows.entries()) {
    if (isRowCopy(row)) continue;
    const section = hasVisibleRows ? layout.addRow(row, !isExpanded(row)) : null;
    ledger.carry(row, 'collapse', 'collapsed', 'showTitle', 'height');
    const rowFiller = new RowFiller(layout.getBottom(section));
    for (const [panelIndex, panel] of toFieldsList(row['panels']).entries()) {
      const width = boundedInteger(Number(panel['span'] ?? 4) * 2, 8, 1, columns);
      ledger.carry(panel, 'span', 'height');
      const box = rowFiller.placeNext(width, toGridHeight(panel['height'] ?? row['height']));
      layout.addPanel(panel, `${path}rows.${index}.panels.${panelIndex}`, section, box);
    }
  }
};
/** Converts the pixel height of old rows to grid rows. */
const toGridHeight = (height: unknown): number => {
  const pixels = typeof height === 'number' ? height : Number.parseInt(String(height ?? '250'), 10);
  return boundedInteger(Math.ceil((Number.isFinite(pixels) ? pixels : 250) / 38), 7, 3, 1000);
};

/** Returns the panels of the classic form, with their rows. */
export const readClassicLayout = (dashboard: Fields, path: string, ledger: Ledger): Layout => {
  const layout = new ClassicLayout(ledger);
  const joinPath = (rest: string): string => (path === '' ? rest : `${path}.${rest}`);
  if (!Array.isArray(dashboard['panels']) || Array.isArray(dashboard['rows']))
    convertLegacyRows(dashboard, joinPath(''), layout, ledger);
  const entries = (Array.isArray(dashboard['panels']) ? dashboard['panels'] : []).entries();
  const panelTop = (panel: Fields): number =>
    isFields(panel['gridPos']) ? boundedInteger(panel['gridPos']['y'], 0, 0, 100_000) : 0;
  const panels = [...entries].filter((entry): entry is [number, Fields] => isFields(entry[1]));
  const sortedPanels = panels.toSorted(([, left], [, right]) => panelTop(left) - panelTop(right));
  let section: string | null = null;
  for (const [index, panel] of sortedPanels) {
    if (panel['type'] !== 'row') {
      layout.addPanel(panel, joinPath(`panels.${index}`), section);
      continue;
    }
    section = layout.addRow(panel, panel['collapsed'] === true);
    for (const [innerIndex, innerPanel] of toFieldsList(panel['panels']).entries())
      layout.addPanel(innerPanel, joinPath(`panels.${index}.panels.${innerIndex}`), section);
  }
  return { sections: layout.sections, panels: alignToSection(layout.panels) };
};

const getSpec = (value: unknown): Fields => (isFields(value) && isFields(value['spec']) ? value['spec'] : {});

class ResourceLayout {
  readonly sections: PlacedSection[] = [];
  readonly panels: PlacedPanel[] = [];
  readonly #elements: Fields;
  readonly #path: string;
  readonly #ledger: Ledger;

  constructor(elements: Fields, path: string, ledger: Ledger) {
    this.#elements = elements;
    this.#path = path;
    this.#ledger = ledger;
  }

  add(layout: unknown, section: string | null, depth = 0): void {
    if (!isFields(layout) || depth > 8) return;
    const spec = getSpec(layout);
    this.#ledger.carry(layout, 'kind');
    if (layout['kind'] === 'RowsLayout') this.#addRows(toFieldsList(spec['rows']), section, depth);
    else if (layout['kind'] === 'TabsLayout') this.#addTabs(toFieldsList(spec['tabs']), section, depth);
    else if (layout['kind'] === 'AutoGridLayout') this.#addAutoGrid(spec, section);
    else this.#addGrid(toFieldsList(spec['items']), section);
  }

  #addSection(holder: Fields, kind: 'row' | 'tab', within: string | null): string {
    const spec = getSpec(holder);
    const { title, collapse } = spec;
    const id = `${kind}-${this.sections.length + 1}`;
    const repeat = this.#readRepeat(spec['repeat']);
    this.#ledger.carry(holder, 'kind');
    this.#ledger.carry(spec, 'title', 'collapse');
    this.#ledger.markDefault(spec, ...(['hideHeader', 'fillScreen'] as const).filter((key) => spec[key] === false));
    this.sections.push({
      id,
      kind,
      within,
      folded: collapse === true,
      repeat: repeat?.variable,
      title: typeof title === 'string' ? title.slice(0, 512) : '',
    });
    return id;
  }

  #addRows(rows: readonly Fields[], section: string | null, depth: number): void {
    for (const [index, row] of rows.entries()) {
      const spec = getSpec(row);
      // Panels above the first row of the classic form correspond to a row without a header in the resource.
      const isTop = index === 0 && section === null && spec['hideHeader'] === true && spec['repeat'] === undefined;
      if (isTop) {
        this.#ledger.carry(row, 'kind');
        this.#ledger.carry(spec, 'hideHeader', 'title', 'collapse');
        this.#ledger.markDefault(spec, ...(spec['fillScreen'] === false ? ['fillScreen'] : []));
      }
      this.add(spec['layout'], isTop ? null : this.#addSection(row, 'row', section), depth + 1);
    }
  }

  #addTabs(tabs: readonly Fields[], section: string | null, depth: number): void {
    for (const tab of tabs) this.add(getSpec(tab)['layout'], this.#addSection(tab, 'tab', section), depth + 1);
  }

  #addGrid(items: readonly Fields[], section: string | null): void {
    const keys = ['x', 'y', 'width', 'height'] as const;
    for (const item of items) {
      const spec = getSpec(item);
      const box = readBox(spec, keys);
      carryBox(spec, keys, box, this.#ledger);
      this.#addItem(item, spec, section, box);
    }
  }

  #addAutoGrid(spec: Fields, section: string | null): void {
    const maxColumns = boundedInteger(spec['maxColumnCount'], 3, 1, columns);
    const width = Math.floor(columns / maxColumns);
    const height =
      { short: 5, standard: 8, tall: 14 }[String(spec['rowHeightMode'])] ??
      boundedInteger(Number(spec['rowHeight']) / 38, 8, 1, 1000);
    this.#ledger.carry(spec, 'maxColumnCount', 'rowHeightMode');
    for (const [index, item] of toFieldsList(spec['items']).entries()) {
      const box = { x: (index % maxColumns) * width, y: Math.floor(index / maxColumns) * height, width, height };
      this.#addItem(item, getSpec(item), section, box);
    }
  }

  #addItem(item: Fields, spec: Fields, section: string | null, box: Box): void {
    const element = spec['element'];
    const name = isFields(element) ? element['name'] : undefined;
    const source = typeof name === 'string' && Object.hasOwn(this.#elements, name) ? this.#elements[name] : undefined;
    if (!isFields(source)) return;
    this.#ledger.carry(item, 'kind');
    this.#ledger.carry(spec, 'element');
    const panel = convertElement(source, this.#ledger);
    const repeat = this.#readRepeat(spec['repeat']);
    this.panels.push({
      panel,
      source,
      path: `${this.#path}elements.${name}`,
      preservedSource: panel,
      section,
      box,
      repeat,
    });
  }

  #readRepeat(repeat: unknown): Repeat | undefined {
    if (!isFields(repeat) || !isVariableName(repeat['value'])) return undefined;
    this.#ledger.carry(repeat, 'mode', 'value', 'direction', 'maxPerRow');
    const { value, direction, maxPerRow } = repeat;
    return {
      variable: value,
      direction: direction === 'v' ? 'down' : 'across',
      perRow: boundedInteger(maxPerRow, 4, 1, columns),
    };
  }
}

/** Returns the panels of a resource, with its rows and tabs. */
export const readResourceLayout = (spec: Fields, path: string, ledger: Ledger): Layout => {
  const layout = new ResourceLayout(isFields(spec['elements']) ? spec['elements'] : {}, path, ledger);
  layout.add(spec['layout'], null);
  return { sections: layout.sections, panels: alignToSection(layout.panels) };
};
