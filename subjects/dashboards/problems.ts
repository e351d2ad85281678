/** Validation of a dashboard beyond its schema: duplicate names and references to missing parts. */

/** Parts of a document that reference each other */
interface DashboardParts {
  readonly variables: readonly { readonly name: string }[];
  readonly sections: readonly { readonly id: string; readonly within: string | null }[];
  readonly panels: readonly {
    readonly id: string;
    readonly place: { readonly section: string | null };
    readonly queries: readonly { readonly name: string }[];
    readonly formulas: readonly { readonly name: string }[];
  }[];
  readonly annotations: readonly { readonly name: string }[];
}

export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Maximum size of a dashboard as JSON in bytes, including defaults. */
const maxBytes = 1024 * 1024;

/** Maximum nesting of sections. */
const maxDepth = 4;

const findDuplicates = (
  names: readonly string[],
  pathOf: (index: number) => Problem['path'],
  what: string,
): Problem[] => {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: pathOf(index), message: `another ${what} has the same value: ${name}` }];
  });
};

/** Returns the nesting depth of a section, including itself; more than `maxDepth` for a cycle. */
const sectionDepth = (id: string, within: ReadonlyMap<string, string | null>): number => {
  let depth = 0;
  for (let at: string | null = id; at !== null && depth <= maxDepth; at = within.get(at) ?? null) depth++;
  return depth;
};

const findSectionProblems = (sections: DashboardParts['sections']): Problem[] => {
  const within = new Map(sections.map((section) => [section.id, section.within]));
  return sections.flatMap((section, index) => {
    const path = ['sections', index, 'within'];
    if (section.within !== null && !within.has(section.within))
      return [{ path, message: `the section ${section.within} does not exist` }];
    return sectionDepth(section.id, within) > maxDepth
      ? [{ path, message: `sections are nested more than ${maxDepth} levels deep, or form a cycle` }]
      : [];
  });
};

const findPanelProblems = ({ panels, sections }: Pick<DashboardParts, 'panels' | 'sections'>): Problem[] => {
  const sectionIds = new Set(sections.map(({ id }) => id));
  return panels.flatMap(({ place: { section }, queries, formulas }, index) => {
    const names = [...queries, ...formulas].map(({ name }) => name);
    const namePath = (at: number): Problem['path'] =>
      at < queries.length
        ? ['panels', index, 'queries', at, 'name']
        : ['panels', index, 'formulas', at - queries.length, 'name'];
    const missingSection =
      section === null || sectionIds.has(section)
        ? []
        : [{ path: ['panels', index, 'place', 'section'], message: `the section ${section} does not exist` }];
    return [...missingSection, ...findDuplicates(names, namePath, 'query or formula of the panel')];
  });
};

/** Returns all problems, each with its path. */
export const findProblems = (document: DashboardParts): Problem[] => {
  const { variables, sections, panels, annotations } = document;
  const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
  const namesOf = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  const bytes = Buffer.byteLength(JSON.stringify(document));
  return [
    ...findDuplicates(idsOf(panels), (index) => ['panels', index, 'id'], 'panel'),
    ...findDuplicates(idsOf(sections), (index) => ['sections', index, 'id'], 'section'),
    ...findDuplicates(namesOf(variables), (index) => ['variables', index, 'name'], 'variable'),
    ...findDuplicates(namesOf(annotations), (index) => ['annotations', index, 'name'], 'annotation'),
    ...findSectionProblems(sections),
    ...findPanelProblems(document),
    ...(bytes > maxBytes
      ? [{ path: [], message: `a dashboard must not exceed ${maxBytes} bytes; this one has ${bytes}` }]
      : []),
  ];
};
