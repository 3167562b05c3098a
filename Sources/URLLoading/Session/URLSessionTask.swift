public import Foundation

open class URLSessionTask: NSObject, NSCopying, @unchecked Sendable {
    open override func copy() -> Any { self }
    open func copy(with zone: NSZone?) -> Any { self }
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
