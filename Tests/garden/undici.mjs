// Node's fetch, which is undici: undici.mjs URL COUNT, as clients.py.
const [base, count] = [process.argv[2], Number(process.argv[3])];
const sum = (octets) => {
    let value = 0x811c9dc5;
    for (const octet of octets) value = Math.imul(value ^ octet, 0x1000193) >>> 0;
    return value.toString(16);
};
process.on("uncaughtException", () => {});
async function one(id) {
    try {
        const response = await fetch(`${base}/${id}`, { signal: AbortSignal.timeout(3000), redirect: "manual" });
        const body = new Uint8Array(await response.arrayBuffer());
        return { id, verdict: "taken", status: response.status, length: body.length, sum: sum(body) };
    } catch (error) {
        return { id, verdict: error.name === "TimeoutError" ? "waits" : "refused", why: error.cause?.code ?? error.name };
    }
}
let next = 0;
await Promise.all(Array.from({ length: 16 }, async () => {
    while (next < count) console.log(JSON.stringify(await one(next++)));
}));
