/** Returns the components with these names, or all components if no name is given. Throws if a name is unknown. */
export const componentsNamed = <Component extends { readonly name: string }>(
  kind: string,
  all: readonly Component[],
  names: readonly string[] = [],
): readonly Component[] => {
  const unknown = names.filter((name) => !all.some((component) => component.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(', ') || 'none';
    throw new Error(`${kind} ${unknown.join(', ')} does not exist; available: ${known}`);
  }
  return all.filter(({ name }) => names.length === 0 || names.includes(name));
};
