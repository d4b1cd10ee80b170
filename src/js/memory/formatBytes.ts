/** A number of bytes in a unit: 512 bytes, 1.50 MiB. */
export function formatBytes(bytes: number) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit++;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(2)} ${units[unit]}`;
}
