/// The media types of files, by extension: the few that a program is likely to load from its own disk.
package enum MediaTypes {
    private static let types: [String: String] = [
        "txt": "text/plain", "html": "text/html", "htm": "text/html", "css": "text/css", "csv": "text/csv",
        "xml": "application/xml", "json": "application/json", "js": "text/javascript", "pdf": "application/pdf",
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "svg": "image/svg+xml", "ico": "image/vnd.microsoft.icon", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mov": "video/quicktime", "wav": "audio/wav", "zip": "application/zip", "gz": "application/gzip",
        "tar": "application/x-tar", "wasm": "application/wasm", "md": "text/markdown",
    ]

    package static func type(ofPath path: String) -> String {
        let ending = path.split(separator: "/").last?.split(separator: ".").dropFirst().last
        return ending.flatMap { types[$0.lowercased()] } ?? "application/octet-stream"
    }
}
