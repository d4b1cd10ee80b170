// Reads the columns of a Parquet file that contain texts, as JSON lines. The pages of the file may be uncompressed or
// compressed with Snappy, the usual compression.

import { parquetMetadataAsync, parquetReadObjects, parquetSchema, type SchemaElement } from 'hyparquet';
import { MAX_ROWS } from '../../model/corpus/readCorpus.ts';

/** Returns a view of a file read in parts; checks the bounds, because a damaged file may ask for parts outside it. */
const partsOf = (file: Blob) => ({
  byteLength: file.size,
  slice(start: number, end: number = file.size) {
    const isInside = start >= 0 && start <= end && end <= file.size;
    if (!isInside) throw new RangeError(`bytes ${start} to ${end} are outside the file of ${file.size} bytes`);
    return file.slice(start, end).arrayBuffer();
  },
});

/** Reads the first MAX_ROWS rows as JSON lines; rejects a damaged file or another compression. rows: of the file. */
export async function readParquet(blob: Blob): Promise<{ text: string; rows: number }> {
  const file = partsOf(blob);
  const metadata = await parquetMetadataAsync(file);
  const columns = parquetSchema(metadata)
    .children.filter(({ children, element }) => children.length === 0 && isText(element))
    .map(({ element }) => element.name);
  const rows = Number(metadata.num_rows);
  if (columns.length === 0) return { text: '', rows };
  const read = await parquetReadObjects({ file, metadata, columns, rowStart: 0, rowEnd: Math.min(rows, MAX_ROWS) });
  return { text: read.map((row) => JSON.stringify(row)).join('\n'), rows };
}

/** Returns true for a column of strings. */
const isText = ({ type, converted_type, logical_type, repetition_type }: SchemaElement) =>
  type === 'BYTE_ARRAY' &&
  repetition_type !== 'REPEATED' &&
  (converted_type === 'UTF8' || logical_type?.type === 'STRING');
