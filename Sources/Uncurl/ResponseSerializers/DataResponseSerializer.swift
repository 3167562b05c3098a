public import URLLoading

/// The content as it came. No content is content too.
public struct DataResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation
    public var preprocessor: ContentPreprocessor

    public init(validation: ResponseValidation = ResponseValidation(), preprocessor: ContentPreprocessor = .passthrough)
    {
        self.validation = validation
        self.preprocessor = preprocessor
    }

    public func serialize(_ answer: ReceivedResponse) throws -> Data {
        try preprocessor(answer.content())
    }
}

/// Where a download lies.
public struct FileResponseSerializer: ResponseSerializer {
    public var validation: ResponseValidation

    public init(validation: ResponseValidation = ResponseValidation()) {
        self.validation = validation
    }

    public func serialize(_ answer: ReceivedResponse) throws -> URL {
        guard let url = answer.fileURL else { throw SerializationFailure(.noFile, answer: answer) }
        return url
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension ResponseSerializer where Self == FileResponseSerializer {
    public static var file: FileResponseSerializer { FileResponseSerializer() }
}
