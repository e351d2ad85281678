/** Validation of a dashboard beyond its schema: duplicate names and references to missing parts. */

/** Parts of a document that reference each other. */
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
  getPath: (index: number) => Problem['path'],
  kindName: string,
): Problem[] => {
  const seenNames = new Set<string>();
  return names.flatMap((name, index) => {
    if (!seenNames.has(name)) {
      seenNames.add(name);
      return [];
    }
    return [{ path: getPath(index), message: `another ${kindName} has the same value: ${name}` }];
  });
};

/** Returns the nesting depth of a section, including itself; more than `maxDepth` for a cycle. */
const getSectionDepth = (id: string, parentById: ReadonlyMap<string, string | null>): number => {
  let depth = 0;
  for (
    let sectionId: string | null = id;
    sectionId !== null && depth <= maxDepth;
    sectionId = parentById.get(sectionId) ?? null
  )
    depth++;
  return depth;
};

const findSectionProblems = (sections: DashboardParts['sections']): Problem[] => {
  const parentById = new Map(sections.map((section) => [section.id, section.within]));
  return sections.flatMap((section, index) => {
    const path = ['sections', index, 'within'];
    if (section.within !== null && !parentById.has(section.within))
      return [{ path, message: `the section ${section.within} does not exist` }];
    return getSectionDepth(section.id, parentById) > maxDepth
      ? [{ path, message: `sections are nested more than ${maxDepth} levels deep, or form a cycle` }]
      : [];
  });
};

const findPanelProblems = ({ panels, sections }: Pick<DashboardParts, 'panels' | 'sections'>): Problem[] => {
  const sectionIds = new Set(sections.map(({ id }) => id));
  return panels.flatMap(({ place: { section }, queries, formulas }, index) => {
    const names = [...queries, ...formulas].map(({ name }) => name);
    const toNamePath = (nameIndex: number): Problem['path'] =>
      nameIndex < queries.length
        ? ['panels', index, 'queries', nameIndex, 'name']
        : ['panels', index, 'formulas', nameIndex - queries.length, 'name'];
    const missingSection =
      section === null || sectionIds.has(section)
        ? []
        : [{ path: ['panels', index, 'place', 'section'], message: `the section ${section} does not exist` }];
    return [...missingSection, ...findDuplicates(names, toNamePath, 'query or formula of the panel')];
  });
};

/** Returns all problems, each with its path. */
export const findProblems = (document: DashboardParts): Problem[] => {
  const { variables, sections, panels, annotations } = document;
  const listIds = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
  const listNames = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  const bytes = Buffer.byteLength(JSON.stringify(document));
  return [
    ...findDuplicates(listIds(panels), (index) => ['panels', index, 'id'], 'panel'),
    ...findDuplicates(listIds(sections), (index) => ['sections', index, 'id'], 'section'),
    ...findDuplicates(listNames(variables), (index) => ['variables', index, 'name'], 'variable'),
    ...findDuplicates(listNames(annotations), (index) => ['annotations', index, 'name'], 'annotation'),
    ...findSectionProblems(sections),
    ...findPanelProblems(document),
    ...(bytes > maxBytes
      ? [{ path: [], message: `a dashboard must not exceed ${maxBytes} bytes; this one has ${bytes}` }]
      : []),
  ];
};
