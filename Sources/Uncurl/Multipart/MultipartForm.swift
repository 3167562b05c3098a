public import URLLoading
internal import UncurlEngine
internal import UncurlHTTP1
internal import UncurlSemantics

/// A form of several parts (RFC 7578), sent while it is read: files from the disk to the socket, streams from a thread.
/// Neither is loaded into memory as a whole.
///
/// ```swift
/// var form = MultipartForm()
/// try form.append(.text("holiday"), name: "title")
/// try form.append(.file(photo), name: "photo")
/// let (answer, response) = try await session.upload(for: request, multipart: form)
/// ```
/// The form is a value: copies have the same boundary, and can be sent at the same time if ``isReplayable``. A form
/// without parts is only a closing boundary, as browsers send it.
public struct MultipartForm: Sendable {
    /// What separates the parts (RFC 2046 §5.1.1).
    public var boundary: String { layout.boundary }
    private let layout: MultipartLayout
    private(set) var parts: [MultipartPart] = []
    /// The sum of the known lengths of the parts, in bytes.
    private var knownLength: UInt64 = 0

    /// A form with the boundary `Boundary+` and sixteen random digits.
    public init() { layout = MultipartLayout() }

    /// A form with a given boundary. The caller must make sure that no part contains it.
    public init(boundary: String) throws(MultipartFailure) {
        guard let layout = MultipartLayout(boundary: boundary) else { throw .invalidBoundary(boundary) }
        self.layout = layout
    }

    // MARK: Parts

    /// Appends a field of the form. Names are written as browsers write them: UTF-8 as it is, with `"`, CR and LF as
    /// `%22`, `%0D` and `%0A`.
    ///
    /// - Parameters:
    ///   - content: what the part holds.
    ///   - name: the name of the field.
    ///   - fileName: the default for a file is the last component of its path; any other content has none by default.
    ///   - contentType: the default for a file follows from the suffix of its name; any other content has none by
    ///     default.
    /// - Throws: ``MultipartFailure``, also for a file that cannot be sent: it is opened now.
    public mutating func append(
        _ content: MultipartContent,
        name: String,
        fileName: String? = nil,
        contentType: String? = nil
    ) throws(MultipartFailure) {
        var (fileName, contentType) = (fileName, contentType)
        if case .file(let url) = content.kind {
            fileName = fileName ?? url.lastPathComponent
            contentType = contentType ?? MediaTypes.type(ofPath: url.path)
        }
        if let contentType { try MultipartPart.check("Content-Type", contentType) }
        let head = MultipartLayout.fields(
            name: try Self.escaped(name),
            fileName: try fileName.map { name throws(MultipartFailure) in try Self.escaped(name) },
            contentType: contentType
        )
        try append(MultipartPart(label: name, head: head, content: content))
    }

    private static func escaped(_ name: String) throws(MultipartFailure) -> String {
        guard let escaped = MultipartLayout.escaped(name) else { throw .nulInName(name) }
        return escaped
    }

    /// Appends a part with exactly these header fields, in their order.
    public mutating func append(
        _ content: MultipartContent,
        headers: [(name: String, value: String)]
    ) throws(MultipartFailure) {
        var head = ""
        for (name, value) in headers {
            try MultipartPart.check(name, value)
            head += "\(name): \(value)\r\n"
        }
        try append(MultipartPart(label: headers.first?.value ?? "", head: head, content: content))
    }

    /// Appends a field for each pair, in their order, such as the flattened parameters of a request.
    public mutating func append(fields: [(name: String, value: Data)]) throws(MultipartFailure) {
        for field in fields { try append(.data(field.value), name: field.name) }
    }

    /// Appends the parts of another form.
    public mutating func append(partsOf other: MultipartForm) throws(MultipartFailure) {
        for part in other.parts { try append(part) }
    }

    private mutating func append(_ part: MultipartPart) throws(MultipartFailure) {
        let length = part.length ?? 0
        let framing = opening(of: part, isFirst: parts.isEmpty).count
        // Room for the closing boundary.
        let left = UInt64(Int64.max) - 1024 - knownLength
        guard length <= left, UInt64(framing) <= left - length else { throw .tooLong }
        knownLength += length + UInt64(framing)
        parts.append(part)
    }

    /// Whether the form has no part.
    public var isEmpty: Bool { parts.isEmpty }
    /// The number of parts.
    public var count: Int { parts.count }

    // MARK: As a whole

    /// The value of the request's Content-Type field.
    public var contentType: String { layout.contentType }

    /// The length in bytes, boundaries included. Nil where a stream declares no length: then the form is sent in
    /// chunks.
    public var contentLength: UInt64? {
        parts.allSatisfy { $0.length != nil } ? knownLength + UInt64(closing.count) : nil
    }

    /// Whether the form can be sent again after a redirect or a challenge: no part is a stream that can be read once
    /// only.
    public var isReplayable: Bool {
        parts.allSatisfy { $0.content.isReplayable }
    }

    // MARK: Layout

    private func opening(of part: MultipartPart, isFirst: Bool) -> [UInt8] {
        layout.opening(fields: part.head, isFirst: isFirst)
    }

    private var closing: [UInt8] { layout.closing(isEmpty: parts.isEmpty) }

    /// Content up to this size, in bytes, is sent together with the boundaries around it.
    private static let smallContent = 64 << 10

    /// The form in order, for the engine: files go from the disk to the socket, and streams are read on threads that
    /// may block. Boundaries and small content are sent together, each file and each stream by itself.
    var content: [Content] {
        var content: [Content] = []
        var bytes: [UInt8] = []
        func flush() {
            if !bytes.isEmpty { content.append(.bytes(bytes)) }
            bytes = []
        }
        for (index, part) in parts.enumerated() {
            bytes += opening(of: part, isFirst: index == 0)
            switch part.content {
            case .bytes(let small) where bytes.count + small.count <= MultipartForm.smallContent:
                bytes += small
            default:
                flush()
                content.append(part.content)
            }
        }
        bytes += closing
        flush()
        return content
    }
}
