/** Problems of a dashboard beyond the schema of its parts: duplicate names and missing references. */

/** Parts of a document that reference each other */
interface Named {
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
const deepest = 4;

const twice = (names: readonly string[], pathOf: (index: number) => Problem['path'], what: string): Problem[] => {
  const seen = new Set<string>();
  return names.flatMap((name, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ path: pathOf(index), message: `another ${what} has the same value: ${name}` }];
  });
};

/** Nesting depth of a section, including itself; more than `deepest` for a cycle. */
const depthOf = (id: string, within: ReadonlyMap<string, string | null>): number => {
  let depth = 0;
  for (let at: string | null = id; at !== null && depth <= deepest; at = within.get(at) ?? null) depth++;
  return depth;
};

const ofSections = (sections: Named['sections']): Problem[] => {
  const within = new Map(sections.map((section) => [section.id, section.within]));
  return sections.flatMap((section, index) => {
    const path = ['sections', index, 'within'];
    if (section.within !== null && !within.has(section.within))
      return [{ path, message: `the section ${section.within} does not exist` }];
    return depthOf(section.id, within) > deepest
      ? [{ path, message: `sections are nested more than ${deepest} levels deep, or form a cycle` }]
      : [];
  });
};

const ofPanels = ({ panels, sections }: Pick<Named, 'panels' | 'sections'>): Problem[] => {
  const known = new Set(sections.map(({ id }) => id));
  return panels.flatMap(({ place: { section }, queries, formulas }, index) => {
    const names = [...queries, ...formulas].map(({ name }) => name);
    const placeOf = (at: number): Problem['path'] =>
      at < queries.length
        ? ['panels', index, 'queries', at, 'name']
        : ['panels', index, 'formulas', at - queries.length, 'name'];
    const nowhere =
      section === null || known.has(section)
        ? []
        : [{ path: ['panels', index, 'place', 'section'], message: `the section ${section} does not exist` }];
    return [...nowhere, ...twice(names, placeOf, 'query or formula of the panel')];
  });
};

/** Returns all problems, each with its path. */
export const problemsOf = (document: Named): Problem[] => {
  const { variables, sections, panels, annotations } = document;
  const idsOf = (list: readonly { readonly id: string }[]): string[] => list.map(({ id }) => id);
  const namesOf = (list: readonly { readonly name: string }[]): string[] => list.map(({ name }) => name);
  const bytes = Buffer.byteLength(JSON.stringify(document));
  return [
    ...twice(idsOf(panels), (index) => ['panels', index, 'id'], 'panel'),
    ...twice(idsOf(sections), (index) => ['sections', index, 'id'], 'section'),
    ...twice(namesOf(variables), (index) => ['variables', index, 'name'], 'variable'),
    ...twice(namesOf(annotations), (index) => ['annotations', index, 'name'], 'annotation'),
    ...ofSections(sections),
    ...ofPanels(document),
    ...(bytes > maxBytes
      ? [{ path: [], message: `a dashboard must not exceed ${maxBytes} bytes; this one has ${bytes}` }]
      : []),
  ];
};
