/** Returns the components with these names, or all components if no name is given. Throws if a name is unknown. */
export const selectComponents = <Component extends { readonly name: string }>(
  kind: string,
  components: readonly Component[],
  names: readonly string[] = [],
): readonly Component[] => {
  const unknownNames = names.filter((name) => !components.some((component) => component.name === name));
  if (unknownNames.length > 0) {
    const availableNames = components.map(({ name }) => name).join(', ') || 'none';
    throw new Error(`${kind} ${unknownNames.join(', ')} does not exist; available: ${availableNames}`);
  }
  return components.filter(({ name }) => names.length === 0 || names.includes(name));
};
