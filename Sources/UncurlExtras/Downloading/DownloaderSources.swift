public import Dispatch
public import Uncurl

extension Downloader {
    /// Loads with a session's data tasks. `decode` makes the value, on any thread. The other arguments are those of
    /// ``init(maximumActive:order:cache:fields:queue:load:)``.
    public convenience init(
        session: URLSession,
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = nil,
        fields: DownloadKey.Fields = .all,
        queue: DispatchQueue? = nil,
        decode: @escaping @Sendable (Data, URLResponse) throws -> Value
    ) {
        self.init(maximumActive: maximumActive, order: order, cache: cache, fields: fields, queue: queue) { request in
            let (data, response) = try await session.data(for: request)
            return Loaded(try decode(data, response), response)
        }
    }

    /// Loads with a session's data tasks. A serializer validates the answers and makes the values.
    public convenience init(
        session: URLSession,
        serializer: some ResponseSerializer<Value>,
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = nil,
        fields: DownloadKey.Fields = .all,
        queue: DispatchQueue? = nil
    ) {
        self.init(maximumActive: maximumActive, order: order, cache: cache, fields: fields, queue: queue) { request in
            let (data, response) = try await session.data(for: request)
            let answer = ReceivedResponse(request: request, response: response, data: data)
            if let failure = serializer.validation.failure(of: answer) { throw UncurlError.validation(failure) }
            return Loaded(try serializer.serialize(answer), response)
        }
    }
}

extension Downloader where Value == ImageContent {
    /// A downloader of validated, decoded and cached images.
    public static func images(
        session: URLSession,
        serializer: ImageResponseSerializer = ImageResponseSerializer(),
        maximumActive: Int = 4,
        order: Order = .firstInFirstOut,
        cache: Cache? = .images()
    ) -> Downloader {
        Downloader(session: session, serializer: serializer, maximumActive: maximumActive, order: order, cache: cache)
    }
}

extension URLSessionConfiguration {
    /// The configuration for a ``Downloader``'s session. It has a response cache of its own, with 20 MiB in memory and
    /// 150 MiB on disk.
    public static var downloader: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.default
        configuration.urlCache = URLCache(
            memoryCapacity: 20 << 20,
            diskCapacity: 150 << 20,
            diskPath: "uncurl.downloader"
        )
        return configuration
    }
}
