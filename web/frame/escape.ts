import { useEffect } from 'preact/hooks';

/** Escape closes what a view has open. */
export const useEscape = (close: () => void): void =>
  useEffect(() => {
    const heed = ({ key }: KeyboardEvent): void => {
      if (key === 'Escape') close();
    };
    addEventListener('keydown', heed);
    return () => removeEventListener('keydown', heed);
  }, []);
